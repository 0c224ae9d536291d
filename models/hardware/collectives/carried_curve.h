// Measured collectives carried to more nodes than were measured.
#pragma once

#include <optional>

#include "models/hardware/collectives/collective_costs.h"

namespace foretrace {

/// From two curves of the same collective over fewer nodes of the same shape. A ring passes a
/// message from node to node in n - 1 steps, and an exchange has n - 1 peers: what a step more
/// costs for a message of the same size is measured, and so it is carried. An all-reduce may take a
/// tree instead, whose levels grow by the logarithm of the nodes. Nothing below two numbers of
/// nodes, or where others share the network.
[[nodiscard]] std::optional<CollectiveTime> carried_time(const Cluster& cluster,
                                                         const CollectiveCall& call);

}  // namespace foretrace
