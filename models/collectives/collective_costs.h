// How long collectives take on a cluster that nothing else uses.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/networks/cluster.h"
#include "models/networks/placement.h"
#include "sim/core/params.h"
#include "sim/graph/task.h"

namespace foretrace {

/// One collective. `bytes` is the buffer as nccl-tests counts it: what is reduced, the whole
/// gathered or scattered buffer, what one rank sends in an all-to-all, the message of a send.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::all_reduce;
  double bytes = 0;
  Placement group;
};

struct CollectiveTime {
  double ns = 0;
  Provenance provenance = Provenance::assumed;
  std::string_view basis = {};  ///< "measured curve", "ring"; lives as long as the program
};

/// Bytes that one rank sends.
[[nodiscard]] double sent_bytes(const CollectiveCall& call);

/// Measured curves of the machine where there are some, then what its regimes say inside a node
/// and NCCL's model between nodes. `bound` moves the efficiency of the network to its ends.
[[nodiscard]] CollectiveTime collective_time(const Cluster& cluster, const CollectiveCall& call,
                                             Bound bound = Bound::point);

}  // namespace foretrace
