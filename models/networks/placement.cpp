#include "models/networks/placement.h"

#include <algorithm>
#include <cmath>

#include "sim/core/result.h"

namespace foretrace {
namespace {

double above_leaves(const Cluster& cluster, std::uint32_t nodes) {
  const Network& network = cluster.network;
  return network.leaf_nodes > 0 && nodes > network.leaf_nodes ? network.oversubscription : 1;
}

/// A group takes from a tier the part of its extent that lies between the tier below and the tier
/// itself.
std::array<std::uint32_t, most_tiers> ranks_by_tier(const TierNetwork& network,
                                                    const GridAxis& axis) {
  std::array<std::uint32_t, most_tiers> ranks{1, 1, 1, 1, 1};
  const double first = std::max(axis.stride, 1U);
  const double extent = first * std::max(axis.size, 1U);
  double below = 1;
  for (std::size_t i = 0; i < network.tiers.size() && i < most_tiers; ++i) {
    const double here = below * network.tiers[i].size;
    const double members = std::min(extent, here) / std::max(first, below);
    ranks[i] = static_cast<std::uint32_t>(std::max(1.0, std::ceil(members)));
    below = here;
  }
  return ranks;
}

}  // namespace

Placement place(const Cluster& cluster, const GridAxis& axis) {
  FORETRACE_CHECK(axis.size > 0);
  Placement placement;
  placement.ranks = axis.size;
  if (!cluster.tier_network.tiers.empty()) {
    placement.tier_ranks = ranks_by_tier(cluster.tier_network, axis);
  }
  const std::uint32_t node = std::max(cluster.node_accelerators, 1U);
  const std::uint32_t stride = std::max(axis.stride, 1U);
  placement.per_node = std::clamp(node / stride, 1U, std::max(axis.size, 1U));
  // As few nodes as can be, alike where the group divides so; else the last one is not full.
  placement.nodes = (axis.size + placement.per_node - 1) / placement.per_node;
  if (axis.size % placement.nodes == 0) placement.per_node = axis.size / placement.nodes;
  if (placement.nodes <= 1) {
    placement.nodes = 1;
    return placement;
  }
  placement.nics = static_cast<double>(cluster.network.nics) * placement.per_node / node;
  const auto apart =
      std::max<std::uint64_t>(1, std::uint64_t{placement.nodes} * std::max(1U, stride / node));
  placement.oversubscription =
      above_leaves(cluster, static_cast<std::uint32_t>(std::min<std::uint64_t>(apart, 1U << 30)));
  return placement;
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
  // An axis has as few nodes as can be.
  if (is_even && placement.nodes == nodes) return placement;
  placement.nodes = nodes;
  placement.per_node = (count + nodes - 1) / nodes;
  placement.nics = 0;
  placement.oversubscription = 1;
  if (nodes == 1) return placement;
  placement.nics = static_cast<double>(cluster.network.nics) * placement.per_node / node;
  placement.oversubscription = above_leaves(
      cluster, static_cast<std::uint32_t>(ranks.back() / node - ranks.front() / node + 1));
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
