// Where the ranks of a group lie: how many share a node, and how much of its network they have.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>

#include "models/hardware/networks/cluster.h"

namespace foretrace {

/// Ranks of one group on the machine. Of groups that lie differently the one over most nodes
/// counts: the others wait for it.
struct Placement {
  std::uint32_t ranks = 1;
  std::uint32_t per_node = 1;  ///< of the group; of its last node fewer where they do not divide
  std::uint32_t nodes = 1;
  double nics = 0;  ///< of each node that the group has for itself
  double oversubscription = 1;
  /// Members along each tier of a cluster that has tiers; 1: the group stays in one of them.
  std::array<std::uint32_t, most_tiers> tier_ranks{1, 1, 1, 1, 1};
  friend auto operator<=>(const Placement&, const Placement&) = default;
};

/// Axis of a grid of ranks: neighbours along it are `stride` ranks apart. Its groups are all that
/// have room in the grid.
struct GridAxis {
  std::uint32_t size = 1;
  std::uint32_t stride = 1;
  std::uint32_t ranks = 0;  ///< of the grid; 0: as many as the first `stride` groups have
  // NOLINTNEXTLINE(modernize-use-nullptr): no pointer is written here
  friend auto operator<=>(const GridAxis&, const GridAxis&) = default;
};

/// Ranks are numbered node by node, from the first one of a node on. All groups along the axis
/// communicate at the same time, so that each has its share of the nodes' network.
[[nodiscard]] Placement place(const Cluster& cluster, const GridAxis& axis);

/// True if groups of the axis lie alike however many ranks the grid has.
[[nodiscard]] bool groups_lie_alike(const Cluster& cluster, const GridAxis& axis);

/// Ranks at any distance from each other, ascending; groups like this one communicate at the same
/// time.
[[nodiscard]] Placement place_ranks(const Cluster& cluster, std::span<const std::int32_t> ranks);

/// `per_node` accelerators of each of some nodes, alone on the machine: what a benchmark measures.
[[nodiscard]] Placement place_alone(const Cluster& cluster, std::uint32_t nodes,
                                    std::uint32_t per_node);

}  // namespace foretrace
