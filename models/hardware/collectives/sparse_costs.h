// How long a sum of sparse gradients takes between the nodes of a cluster.
#pragma once

#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/collectives/sparse_sum.h"
#include "models/hardware/networks/cluster.h"

namespace foretrace {

/// A node's accelerators add up all of the buffer first; what is not zero for one of them is not
/// zero for the node. Inside one node: as an all-reduce.
[[nodiscard]] double sparse_sum_ns(const Cluster& cluster, const CollectiveCall& call,
                                   const SparseSum& sum);

/// What the nodes of a group have in place of single workers.
[[nodiscard]] SparseBlocks blocks_of_nodes(const SparseBlocks& blocks, double per_node);

}  // namespace foretrace
