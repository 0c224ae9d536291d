// What would be left of a node, as a share of what it has: the measure of best fit for vectors.
#pragma once

#include "apps/scheduling/model/cluster.h"
#include "apps/scheduling/model/job.h"
#include "apps/scheduling/model/occupancy.h"

namespace foretrace::scheduling {

/// Mean over cores, memory and accelerators that the node has of the share that is free once the
/// request is placed: 0 (full) to 1 (empty). A node that counts nothing has 0 left.
[[nodiscard]] double share_left(const NodeFree& free, const Node& whole_node,
                                const Request& request);

}  // namespace foretrace::scheduling
