// All-reduces whose sums are made by the switches between nodes: k trees over leaves and spines, as
// in PANAMA (Gebara et al., MLSys 2021).
#pragma once

#include "models/hardware/collectives/collective_costs.h"
#include "models/hardware/networks/cluster.h"

namespace foretrace {

/// True for an all-reduce over nodes whose switches add up.
[[nodiscard]] bool switches_add_up(const Cluster& cluster, const CollectiveCall& call);

/// Levels of switches that a group's trees pass: 1 under one leaf, 2 with a spine.
[[nodiscard]] double aggregation_levels(const Cluster& cluster, const Placement& group);

/// B/s at which the trees of a group take a node's buffer, and give the sum back at the same time.
/// A tree has one port of each node and, above a leaf, one link up, which what the leaf has added
/// up passes once. Trees are as many as ports of a node or, above a leaf, as its links up: its
/// nodes' ports / oversubscription.
[[nodiscard]] double aggregation_rate(const Cluster& cluster, const Placement& group,
                                      double efficiency);

/// start + levels x latency + S / rate. `local_ns`: of the same sum inside a node, whose pieces
/// follow each other into the network, so that the slower of the two counts.
[[nodiscard]] double aggregation_ns(const Cluster& cluster, const CollectiveCall& call,
                                    double efficiency, double local_ns);

}  // namespace foretrace
