// Parts of placements: what a node has free, and slices of it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "apps/scheduling/model/occupancy.h"

namespace foretrace::scheduling {

/// The first `count` wholly free accelerators of a node.
[[nodiscard]] std::uint64_t first_free(const NodeFree& node, std::int32_t count);

/// The accelerator with the least free parts among those with enough; -1: none has enough.
[[nodiscard]] std::int32_t tightest(const NodeFree& node, std::int32_t milli);

/// The request on one node where it fits; whole accelerators are the first free ones, a part is cut
/// from the accelerator with the least left.
[[nodiscard]] Slice slice_on(const Occupancy& occupancy, NodeId id, const Request& request);

/// `per_node` whole accelerators of the request on each node.
[[nodiscard]] std::vector<Slice> slices_on(
    const Occupancy& occupancy, const Request& request,
    const std::vector<std::pair<NodeId, std::int32_t>>& per_node);

/// Whole accelerators of the request that a node could give now.
[[nodiscard]] std::int32_t room_for(const NodeFree& node, const Request& request);

/// Mean over cores, memory and accelerators that the node has of the share that is free once the
/// request is placed: 0 (full) to 1 (empty). A node that counts nothing has 0 left.
[[nodiscard]] double share_left(const Occupancy& occupancy, NodeId id, const Request& request);

}  // namespace foretrace::scheduling
