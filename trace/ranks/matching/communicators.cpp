#include "trace/ranks/matching/communicators.h"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "trace/ranks/matching/constants.h"

namespace foretrace::trace {
namespace {

/// A group of one rank that looks for its peers.
struct Group {
  GroupEvidence evidence = GroupEvidence::stream;
  std::string name;
  std::uint32_t size = 0;
  std::vector<std::int32_t> ranks;
  RankView view;
};

std::vector<Group> groups_of(std::span<const RankCollectives> ranks,
                             const std::vector<std::vector<bool>>& taken) {
  std::vector<Group> groups;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    std::map<std::uint32_t, std::size_t> ids;
    for (std::size_t i = 0; i < ranks[rank].list.size(); ++i) {
      if (taken[rank][i]) continue;
      RankCollective row = ranks[rank].list[i];
      const auto [at, is_new] = ids.try_emplace(row.group, groups.size());
      if (is_new) {
        const RankGroup& recorded = ranks[rank].groups[row.group];
        Group group;
        group.evidence = recorded.evidence;
        group.name = recorded.name;
        group.size = recorded.size;
        group.ranks = recorded.ranks;
        group.view.rank = static_cast<std::uint32_t>(rank);
        group.view.group = row.group;
        groups.push_back(std::move(group));
      }
      row.start_ns += ranks[rank].base_ns;
      row.end_ns += ranks[rank].base_ns;
      Group& group = groups[at->second];
      group.view.rows.push_back(static_cast<std::uint32_t>(i));
      group.view.view.rows.push_back(row);
      group.view.view.ranks = group.size;
    }
  }
  return groups;
}

/// A cluster as it grows.
struct Growing {
  Cluster cluster;
  GroupEvidence evidence = GroupEvidence::stream;
  std::uint32_t size = 0;  // 0: not recorded
  std::vector<std::int32_t> ranks;

  [[nodiscard]] bool takes(const Group& group) const {
    const bool same_size = size == 0 || group.size == 0 || size == group.size;
    const bool same_ranks = ranks.empty() || group.ranks.empty() || ranks == group.ranks;
    const bool full = size != 0 && cluster.members.size() >= size;
    return same_size && same_ranks && !full && evidence == group.evidence &&
           std::none_of(cluster.members.begin(), cluster.members.end(),
                        [&](const RankView& member) { return member.rank == group.view.rank; });
  }
  void add(Group& group) {
    size = size == 0 ? group.size : size;
    ranks = ranks.empty() ? group.ranks : ranks;
    cluster.members.push_back(std::move(group.view));
  }
};

Growing start(Group& group) {
  Growing grown;
  grown.cluster.name = group.name;
  grown.evidence = group.evidence;
  grown.add(group);
  return grown;
}

/// Where a group belongs: by its name, or to the cluster with whose collectives its own end.
Growing* find_home(std::vector<Growing>& clusters, const Group& group) {
  Growing* best = nullptr;
  std::int64_t best_spread = std::numeric_limits<std::int64_t>::max();
  for (Growing& candidate : clusters) {
    if (!candidate.takes(group)) continue;
    if (group.evidence == GroupEvidence::name) {
      if (candidate.cluster.name == group.name) return &candidate;
      continue;
    }
    const auto [alignment, method] = align(candidate.cluster.members.front(), group.view);
    const bool trusted = alignment.ok && method > MatchMethod::voting &&
                         alignment.spread_ns < ranks::largest_spread_ns;
    if (trusted && alignment.spread_ns < best_spread) {
      best = &candidate;
      best_spread = alignment.spread_ns;
    }
  }
  return best;
}

/// Streams of the same number are taken for one group where ends do not help: matched by voting.
Growing* find_namesake(std::vector<Growing>& clusters, const Group& group) {
  for (Growing& candidate : clusters) {
    if (candidate.takes(group) && group.evidence == GroupEvidence::stream &&
        candidate.cluster.name == group.name) {
      return &candidate;
    }
  }
  return nullptr;
}

/// Ranks of the whole job: as recorded, or those that are here.
std::uint32_t world_of(std::span<const RankCollectives> ranks) {
  std::int32_t world = 0;
  for (const RankCollectives& rank : ranks) {
    world = std::max(world, rank.world_size);
  }
  return static_cast<std::uint32_t>(world);
}

}  // namespace

std::vector<Cluster> find_communicators(std::span<const RankCollectives> ranks,
                                        const std::vector<std::vector<bool>>& taken) {
  std::vector<Group> groups = groups_of(ranks, taken);
  // The longest lists first: the others lie within them.
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return a.view.rows.size() > b.view.rows.size();
  });
  std::vector<Growing> clusters;
  for (Group& group : groups) {
    Growing* home = find_home(clusters, group);
    home = home == nullptr ? find_namesake(clusters, group) : home;
    if (home != nullptr) {
      home->add(group);
    } else {
      clusters.push_back(start(group));
    }
  }
  const std::uint32_t world = world_of(ranks);
  std::vector<Cluster> result;
  for (Growing& grown : clusters) {
    auto& members = grown.cluster.members;
    std::sort(members.begin(), members.end(),
              [](const RankView& a, const RankView& b) { return a.rank < b.rank; });
    const auto here = static_cast<std::uint32_t>(members.size());
    const bool all_ranks_here = ranks.size() >= world;
    if (grown.evidence == GroupEvidence::pointer) {  // an address means nothing to anybody
      grown.cluster.name = fmt::format("group {}", result.size() + 1);
    }
    grown.cluster.size = grown.size != 0 ? grown.size : (all_ranks_here ? here : world);
    result.push_back(std::move(grown.cluster));
  }
  return result;
}

std::pair<Alignment, MatchMethod> align(const RankView& reference, const RankView& member) {
  Alignment by_sequence = align_by_sequence(reference.view, member.view);
  if (by_sequence.ok) {
    return {std::move(by_sequence), MatchMethod::sequence};
  }
  Alignment by_order = align_by_order(reference.view, member.view);
  if (by_order.ok) {
    return {std::move(by_order), MatchMethod::order};
  }
  Alignment by_voting = align_by_voting(reference.view, member.view);
  by_voting.refused = by_order.refused;
  return {std::move(by_voting), by_voting.ok ? MatchMethod::voting : MatchMethod::none};
}

}  // namespace foretrace::trace
