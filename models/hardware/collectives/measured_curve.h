// Measured collectives: between two sizes by the logarithm of both.
#pragma once

#include <optional>

#include "models/hardware/collectives/collective_costs.h"

namespace foretrace {

/// Time at a size; below the first point that of the first, beyond the last at its rate. A larger buffer never takes less: where
/// measured times fall, those that fell have one mean (of the logarithms).
[[nodiscard]] double curve_ns(const MeasuredCurve& curve, double bytes);

/// Smallest size that the curve of this collective has; 0: no curve.
[[nodiscard]] double first_measured(const Cluster& cluster, const CollectiveCall& call);
/// The largest one; 0: no curve.
[[nodiscard]] double last_measured(const Cluster& cluster, const CollectiveCall& call);

/// A curve of a group that has the network to itself says nothing about groups that share it.
[[nodiscard]] bool shares_network(const Cluster& cluster, const CollectiveCall& call);

/// Inside a node: what a rank sends passes its links once. Switches that add up get every byte once
/// and send the sum back. 0 between nodes, and where the links are not known.
[[nodiscard]] double time_on_links(const Cluster& cluster, const CollectiveCall& call);

/// The curve of this collective, number of ranks and nodes, if the machine has one. Points
/// that would be faster than the links are set aside.
[[nodiscard]] std::optional<CollectiveTime> measured_time(const Cluster& cluster,
                                                          const CollectiveCall& call);

}  // namespace foretrace
