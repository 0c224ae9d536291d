#include "trace/ranks/matching/buffered_sends.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>

#include "trace/ranks/matching/constants.h"

namespace foretrace::trace {
namespace {

/// Bytes of the messages that show whether their sends wait.
struct Seen {
  std::int64_t smallest_waiting = std::numeric_limits<std::int64_t>::max();
  std::int64_t largest_buffered = std::numeric_limits<std::int64_t>::min();

  /// Whether sends of that size wait; nothing if no message tells.
  [[nodiscard]] std::optional<bool> waits(std::int64_t bytes) const {
    if (bytes <= largest_buffered) return false;
    return bytes >= smallest_waiting ? std::optional(true) : std::nullopt;
  }
};

class BufferedSends {
 public:
  BufferedSends(std::span<const RankCollectives> ranks, const JobMatching& matching)
      : ranks_(ranks), matching_(matching) {
    for (const MatchedCollective& collective : matching_.collectives) {
      if (is_plain(collective)) {
        look_at(collective);
      }
    }
  }

  /// Of a collective in which one rank sends; nothing if no message tells.
  [[nodiscard]] std::optional<bool> send_waits(const MatchedCollective& collective) const {
    if (!is_plain(collective)) return false;
    const auto channel = seen_.find(collective.communicator);
    const auto waits =
        channel == seen_.end() ? std::nullopt : channel->second.waits(collective.bytes);
    return waits ? waits : job_.waits(collective.bytes);
  }

  static bool is_one_way(const MatchedCollective& collective) {
    return std::count_if(collective.members.begin(), collective.members.end(),
                         [](const CollectiveMember& member) { return member.sends; }) == 1;
  }

 private:
  /// A kernel that does several messages tells nothing about one of them.
  [[nodiscard]] bool is_plain(const MatchedCollective& collective) const {
    return is_one_way(collective) &&
           std::all_of(
               collective.members.begin(), collective.members.end(),
               [&](const CollectiveMember& member) { return row_of(member).messages.size() == 1; });
  }

  void look_at(const MatchedCollective& collective) {
    const bool first_sends = collective.members[0].sends;
    const CollectiveMember& send = collective.members[first_sends ? 0 : 1];
    const CollectiveMember& receive = collective.members[first_sends ? 1 : 0];
    const RankClock& clock = matching_.clocks[send.rank];
    const std::int64_t start = clock.to_reference(row_of(send).start_ns);
    const std::int64_t end = clock.to_reference(row_of(send).end_ns);
    const std::int64_t arrival =
        matching_.clocks[receive.rank].to_reference(row_of(receive).start_ns);
    for (Seen* seen : {&seen_[collective.communicator], &job_}) {
      if (end < arrival) {
        seen->largest_buffered = std::max(seen->largest_buffered, collective.bytes);
      } else if (arrival - start > std::max(end - arrival, ranks::smallest_spread_ns)) {
        seen->smallest_waiting = std::min(seen->smallest_waiting, collective.bytes);
      }
    }
  }

  [[nodiscard]] const RankCollective& row_of(const CollectiveMember& member) const {
    return ranks_[member.rank].list[member.collective];
  }

  std::span<const RankCollectives> ranks_;
  const JobMatching& matching_;
  std::map<std::uint32_t, Seen> seen_;  // per communicator
  Seen job_;                            // of all of them
};

}  // namespace

void find_buffered(std::span<const RankCollectives> ranks, JobMatching& matching) {
  const BufferedSends buffered(ranks, matching);
  for (MatchedCollective& collective : matching.collectives) {
    const bool is_one_way = BufferedSends::is_one_way(collective);
    for (CollectiveMember& member : collective.members) {
      member.waits =
          !is_one_way || !member.sends || buffered.send_waits(collective).value_or(false);
    }
  }
}

std::size_t unseen_sends(std::span<const RankCollectives> ranks, const JobMatching& matching) {
  const BufferedSends buffered(ranks, matching);
  return static_cast<std::size_t>(
      std::count_if(matching.collectives.begin(), matching.collectives.end(),
                    [&](const MatchedCollective& collective) {
                      return collective.complete && BufferedSends::is_one_way(collective) &&
                             !buffered.send_waits(collective);
                    }));
}

}  // namespace foretrace::trace
