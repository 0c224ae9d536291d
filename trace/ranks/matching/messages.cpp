#include "trace/ranks/matching/messages.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace foretrace::trace {
namespace {

/// The two ranks of a message in numbers that mean the same on both.
struct Ends {
  std::int32_t own = -1;
  std::int32_t peer = -1;
};

bool holds(const std::vector<std::int32_t>& ranks, std::int32_t rank) {
  return std::binary_search(ranks.begin(), ranks.end(), rank);
}

/// Numbers within a group as numbers within the job. `me` is the rank's own, -1 if it is not known;
/// then `place` is the best guess.
std::optional<Ends> from_group(const RankGroup& group, const Ends& said, std::int32_t me,
                               std::int32_t place) {
  const auto rank_at = [&](std::int32_t number) {
    const bool inside = number >= 0 && static_cast<std::size_t>(number) < group.ranks.size();
    return inside ? group.ranks[static_cast<std::size_t>(number)] : -1;
  };
  const std::int32_t own = said.own < 0 ? place : rank_at(said.own);
  const std::int32_t peer = rank_at(said.peer);
  const bool fits = peer >= 0 && peer != own && holds(group.ranks, own) && (me < 0 || own == me);
  return fits ? std::optional(Ends{own, peer}) : std::nullopt;
}

class Finder {
 public:
  explicit Finder(std::span<const RankCollectives> ranks) : ranks_(ranks) {
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      for (const RankCollective& row : ranks[r].list) {
        if (!row.messages.empty()) {
          members_[key_of(ranks[r].groups[row.group])].insert(r);
        }
      }
    }
  }

  Channels run() {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      found_.taken.emplace_back(ranks_[r].list.size(), false);
      for (std::size_t i = 0; i < ranks_[r].list.size(); ++i) {
        found_.taken[r][i] = add(r, static_cast<std::uint32_t>(i));
      }
    }
    for (auto& [key, channel] : channels_) {
      if (channel.source != nobody || channel.target != nobody) {
        found_.list.push_back(std::move(channel));
      }
    }
    return std::move(found_);
  }

 private:
  /// Addresses and streams of one group differ from rank to rank.
  static std::string key_of(const RankGroup& group) {
    return group.evidence == GroupEvidence::name ? group.name : std::string();
  }

  [[nodiscard]] std::int32_t number_of(std::size_t rank) const {
    return ranks_[rank].rank >= 0 ? ranks_[rank].rank : static_cast<std::int32_t>(rank);
  }

  /// Nothing if a peer cannot be told.
  [[nodiscard]] std::optional<Ends> ends_of(std::size_t rank, const RankGroup& group,
                                            const PeerMessage& message) const {
    const std::int32_t me = ranks_[rank].rank;
    const std::int32_t number = number_of(rank);
    const Ends said{message.own, message.peer};
    if (me >= 0 && group.ranks.size() == 2 && holds(group.ranks, me)) {
      return Ends{me, group.ranks[0] == me ? group.ranks[1] : group.ranks[0]};
    }
    if (said.peer >= 0) {
      // Frameworks number within the group; what does not fit there counts the ranks of the job.
      if (const auto ends = from_group(group, said, me, number)) return ends;
      return Ends{said.own < 0 ? number : said.own, said.peer};
    }
    const auto members = members_.find(key_of(group));
    const bool is_pair = members != members_.end() && members->second.size() == 2 &&
                         (group.size == 2 || (group.size == 0 && ranks_.size() == 2));
    if (!is_pair) return std::nullopt;
    const std::size_t first = *members->second.begin();
    return Ends{number, number_of(first == rank ? *members->second.rbegin() : first)};
  }

  /// False if the row has no messages, or one whose peer nobody knows.
  bool add(std::size_t rank, std::uint32_t i) {
    const RankCollective& row = ranks_[rank].list[i];
    const RankGroup& group = ranks_[rank].groups[row.group];
    std::vector<Ends> all;
    for (const PeerMessage& message : row.messages) {
      const std::optional<Ends> ends = ends_of(rank, group, message);
      if (!ends || ends->own == ends->peer || !may_join(rank, group, *ends, message.sends)) {
        return false;
      }
      all.push_back(*ends);
    }
    for (std::size_t m = 0; m < all.size(); ++m) {
      const PeerMessage& message = row.messages[m];
      Channel& channel = channel_of(group, all[m], message.sends);
      (message.sends ? channel.source : channel.target) = static_cast<std::uint32_t>(rank);
      (message.sends ? channel.source_group : channel.target_group) = row.group;
      // A kernel that sends and receives may end long after it has sent.
      const bool ends_with_it = !message.sends || all.size() == 1;
      (message.sends ? channel.sends : channel.receives)
          .push_back({.row = i,
                      .bytes = message.bytes,
                      .sequence = row.sequence,
                      .start_ns = row.start_ns + ranks_[rank].base_ns,
                      .end_ns = (ends_with_it ? row.end_ns : row.start_ns) + ranks_[rank].base_ns});
    }
    return !all.empty();
  }

  /// A name that stands for several groups, with ranks numbered within each, tells nothing.
  [[nodiscard]] bool may_join(std::size_t rank, const RankGroup& group, const Ends& ends,
                              bool sends) const {
    const auto found = channels_.find(place_of(group, ends, sends));
    if (found == channels_.end()) return true;
    const std::uint32_t known = sends ? found->second.source : found->second.target;
    return known == nobody || known == rank;
  }

  using Place = std::tuple<std::string, std::int32_t, std::int32_t>;  // group, source, target
  static Place place_of(const RankGroup& group, const Ends& ends, bool sends) {
    return {key_of(group), sends ? ends.own : ends.peer, sends ? ends.peer : ends.own};
  }

  Channel& channel_of(const RankGroup& group, const Ends& ends, bool sends) {
    const Place place = place_of(group, ends, sends);
    Channel& channel = channels_[place];
    if (channel.name.empty()) {
      const auto& [name, source, target] = place;
      channel.name = fmt::format("{} {}->{}", name.empty() ? "peers" : name, source, target);
    }
    return channel;
  }

  std::span<const RankCollectives> ranks_;
  std::map<std::string, std::set<std::size_t>> members_;  // ranks that send or receive in a group
  std::map<Place, Channel> channels_;
  Channels found_;
};

}  // namespace

Channels find_channels(std::span<const RankCollectives> ranks) { return Finder(ranks).run(); }

}  // namespace foretrace::trace
