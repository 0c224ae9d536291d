#include "trace/ranks/matching/buffered_sends.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>

#include "trace/ranks/matching/constants.h"

namespace foretrace::trace {
namespace {

/// Bytes of messages of one channel.
struct Seen {
  std::int64_t smallest_waiting = std::numeric_limits<std::int64_t>::max();
  std::int64_t largest_buffered = std::numeric_limits<std::int64_t>::min();
};

class BufferedSends {
 public:
  BufferedSends(std::span<const RankCollectives> ranks, JobMatching& matching)
      : ranks_(ranks), matching_(matching) {}

  void run() {
    for (const MatchedCollective& collective : matching_.collectives) {
      if (is_plain(collective)) {
        look_at(collective);
      }
    }
    for (MatchedCollective& collective : matching_.collectives) {
      for (CollectiveMember& member : collective.members) {
        member.waits = !is_one_way(collective) || !member.sends ||
                       (is_plain(collective) && sends_wait(collective));
      }
    }
  }

 private:
  static bool is_one_way(const MatchedCollective& collective) {
    return std::count_if(collective.members.begin(), collective.members.end(),
                         [](const CollectiveMember& member) { return member.sends; }) == 1;
  }

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
    Seen& seen = seen_[collective.communicator];
    if (end < arrival) {
      seen.largest_buffered = std::max(seen.largest_buffered, collective.bytes);
    } else if (arrival - start > std::max(end - arrival, ranks::smallest_spread_ns)) {
      seen.smallest_waiting = std::min(seen.smallest_waiting, collective.bytes);
    }
  }

  [[nodiscard]] bool sends_wait(const MatchedCollective& collective) const {
    const auto seen = seen_.find(collective.communicator);
    return seen != seen_.end() && collective.bytes >= seen->second.smallest_waiting &&
           collective.bytes > seen->second.largest_buffered;
  }

  [[nodiscard]] const RankCollective& row_of(const CollectiveMember& member) const {
    return ranks_[member.rank].list[member.collective];
  }

  std::span<const RankCollectives> ranks_;
  JobMatching& matching_;
  std::map<std::uint32_t, Seen> seen_;  // per communicator
};

}  // namespace

void find_buffered(std::span<const RankCollectives> ranks, JobMatching& matching) {
  BufferedSends(ranks, matching).run();
}

}  // namespace foretrace::trace
