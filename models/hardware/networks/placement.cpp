#include "models/hardware/networks/placement.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/core/result.h"

namespace foretrace {
namespace {

double above_leaves(const Cluster& cluster, std::uint64_t nodes) {
  const Network& network = cluster.network;
  return network.leaf_nodes > 0 && nodes > network.leaf_nodes ? network.oversubscription : 1;
}

/// Ranks from the first one of a group to its last one.
std::uint64_t reach_of(const GridAxis& axis) {
  return std::uint64_t{std::max(axis.size, 1U) - 1} * std::max(axis.stride, 1U);
}

/// First ranks of groups: `stride` in a row, then again behind `size` times as many.
struct Starts {
  std::uint64_t together = 1;  ///< next to each other
  std::uint64_t apart = 1;     ///< from the first of a row to the first of the next row
  std::uint64_t last = 0;      ///< the last rank that a group begins at

  explicit Starts(const GridAxis& axis)
      : together(std::max(axis.stride, 1U)), apart(together * std::max(axis.size, 1U)) {
    const std::uint64_t reach = reach_of(axis);
    // Where no group has room, as without a grid.
    last = axis.ranks > reach ? axis.ranks - reach - 1 : together - 1;
  }
  [[nodiscard]] std::uint64_t count() const {
    return last / apart * together + std::min(together, last % apart + 1);
  }
  /// How far behind the first rank of a unit of `size` ranks a group begins at most: that group
  /// reaches over most units.
  [[nodiscard]] std::uint64_t farthest(std::uint64_t size) const {
    std::uint64_t most = 0;
    const std::uint64_t rows = size / std::gcd(apart, size);  // then they lie as before
    for (std::uint64_t row = 0; row < rows && row * apart <= last; ++row) {
      const std::uint64_t count = std::min(together, last - row * apart + 1);
      most = std::max(most, row * apart % size + count - 1);
      if (most + 1 >= size) return size - 1;
    }
    return most;
  }
};

/// Units of so many ranks from the first one that a group lies in to the last one, of the group
/// that reaches over most.
std::uint64_t units_over(const GridAxis& axis, const Starts& starts, std::uint64_t unit) {
  return (starts.farthest(unit) + reach_of(axis)) / unit + 1;
}

/// Ranks of a group in one node at most, where the group begins `at` ranks behind the first one of
/// a node.
std::uint32_t most_in_node(const GridAxis& axis, std::uint32_t node, std::uint32_t at) {
  const std::uint32_t stride = std::max(axis.stride, 1U);
  std::uint32_t most = 1;
  std::uint32_t left = axis.size;
  for (std::uint32_t i = 0; left > 0 && i <= stride; ++i) {
    const std::uint32_t here = std::min(left, (node - at + stride - 1) / stride);
    most = std::max(most, here);
    left -= here;
    at = at + here * stride - node;
  }
  return most;
}

std::array<std::uint32_t, most_tiers> ranks_by_tier(const TierNetwork& network,
                                                    const GridAxis& axis) {
  std::array<std::uint32_t, most_tiers> ranks{1, 1, 1, 1, 1};
  const Starts starts(axis);
  const std::uint64_t stride = std::max(axis.stride, 1U);
  std::uint64_t below = 1;  // ranks in a member of the tier
  for (std::size_t i = 0; i < network.tiers.size() && i < most_tiers; ++i) {
    const std::uint64_t here = below * std::max(network.tiers[i].size, 1U);
    std::uint64_t members = 1;
    if (stride < below) {
      members = std::min(here / below, units_over(axis, starts, below));
    } else if (stride < here) {
      members = std::min<std::uint64_t>(axis.size, (here + stride - 1) / stride);
    }
    ranks[i] = static_cast<std::uint32_t>(std::max<std::uint64_t>(members, 1));
    below = here;
  }
  return ranks;
}

/// The same of ascending ranks: how many members of a tier lie in one of the next tier at most.
std::array<std::uint32_t, most_tiers> listed_by_tier(const TierNetwork& network,
                                                     std::span<const std::int32_t> ranks) {
  std::array<std::uint32_t, most_tiers> most{1, 1, 1, 1, 1};
  std::int64_t below = 1;
  for (std::size_t i = 0; i < network.tiers.size() && i < most_tiers; ++i) {
    const std::int64_t here = below * std::max(network.tiers[i].size, 1U);
    std::uint32_t members = 1;
    for (std::size_t r = 1; r < ranks.size(); ++r) {
      if (ranks[r] / here != ranks[r - 1] / here) {
        members = 1;
      } else if (ranks[r] / below != ranks[r - 1] / below) {
        ++members;
      }
      most[i] = std::max(most[i], members);
    }
    below = here;
  }
  return most;
}

}  // namespace

Placement place(const Cluster& cluster, const GridAxis& axis) {
  FORETRACE_CHECK(axis.size > 0);
  Placement placement;
  placement.ranks = axis.size;
  placement.per_node = std::max(axis.size, 1U);
  if (axis.size <= 1) return placement;
  if (!cluster.tier_network.tiers.empty()) {
    placement.tier_ranks = ranks_by_tier(cluster.tier_network, axis);
  }
  const std::uint32_t node = std::max(cluster.node_accelerators, 1U);
  const Starts starts(axis);
  const std::uint64_t over = units_over(axis, starts, node);
  if (over <= 1) return placement;
  // Of the group that reaches over most nodes, alike where it divides so.
  placement.nodes = static_cast<std::uint32_t>(std::min<std::uint64_t>(over, axis.size));
  if (axis.size % placement.nodes == 0) {
    placement.per_node = axis.size / placement.nodes;
  } else {
    placement.per_node =
        most_in_node(axis, node, static_cast<std::uint32_t>(starts.farthest(node)));
  }
  // Ports local to the ranks of a node that communicate, divided among them.
  const auto together =
      static_cast<double>(std::min<std::uint64_t>(node, starts.count() * placement.per_node));
  placement.nics =
      std::ceil(cluster.network.nics * together / node) * placement.per_node / together;
  placement.oversubscription = above_leaves(cluster, over);
  return placement;
}

bool groups_lie_alike(const Cluster& cluster, const GridAxis& axis) {
  const std::uint64_t apart = Starts(axis).apart;
  const auto is_even = [apart](std::uint64_t unit) {
    return unit % apart == 0 || apart % unit == 0;
  };
  bool all = is_even(std::max(cluster.node_accelerators, 1U));
  std::uint64_t unit = 1;
  for (const Tier& tier : cluster.tier_network.tiers) {
    unit *= std::max(tier.size, 1U);
    all = all && is_even(unit);
  }
  return all;
}

Placement place_ranks(const Cluster& cluster, std::span<const std::int32_t> ranks) {
  if (ranks.size() < 2) return {};
  const auto node = static_cast<std::int32_t>(std::max(cluster.node_accelerators, 1U));
  std::uint32_t nodes = 1;
  bool is_even = true;  // the same distance from each to the next
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    nodes += ranks[i] / node != ranks[i - 1] / node ? 1 : 0;
    is_even = is_even && ranks[i] - ranks[i - 1] == ranks[1] - ranks[0];
  }
  const auto count = static_cast<std::uint32_t>(ranks.size());
  const auto extent = static_cast<std::uint32_t>(ranks.back() - ranks.front());
  Placement placement = place(cluster, {count, std::max(1U, extent / (count - 1))});
  if (!cluster.tier_network.tiers.empty()) {
    placement.tier_ranks = listed_by_tier(cluster.tier_network, ranks);
  }
  // Others along the axis may lie on more nodes.
  if (is_even && placement.nodes == nodes) return placement;
  placement.nodes = nodes;
  placement.per_node = (count + nodes - 1) / nodes;
  placement.nics = 0;
  placement.oversubscription = 1;
  if (nodes == 1) return placement;
  placement.nics = static_cast<double>(cluster.network.nics) * placement.per_node / node;
  placement.oversubscription = above_leaves(
      cluster,
      static_cast<std::uint64_t>(std::int64_t{ranks.back()} / node - ranks.front() / node + 1));
  return placement;
}

Placement place_alone(const Cluster& cluster, std::uint32_t nodes, std::uint32_t per_node) {
  FORETRACE_CHECK(nodes > 0 && per_node > 0);
  Placement placement;
  placement.ranks = nodes * per_node;
  placement.per_node = per_node;
  placement.nodes = nodes;
  if (!cluster.tier_network.tiers.empty()) {
    const GridAxis inside = {per_node, 1};
    const GridAxis between = {nodes, std::max(cluster.node_accelerators, 1U)};
    const auto within = ranks_by_tier(cluster.tier_network, inside);
    placement.tier_ranks = ranks_by_tier(cluster.tier_network, between);
    for (std::size_t i = 0; i < within.size(); ++i) placement.tier_ranks[i] *= within[i];
  }
  if (nodes <= 1) return placement;
  const double share = static_cast<double>(cluster.network.nics) * per_node /
                       std::max(cluster.node_accelerators, 1U);
  // NICs that are local to the accelerators of the group: a shared one is there as a whole.
  placement.nics = std::ceil(share);
  placement.oversubscription = above_leaves(cluster, nodes);
  return placement;
}

}  // namespace foretrace
