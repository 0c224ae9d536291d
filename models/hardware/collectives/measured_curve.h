// Measured collectives: between two sizes by the logarithm of both, beyond the last by its rate.
#pragma once

#include <optional>

#include "models/hardware/collectives/collective_costs.h"

namespace foretrace {

/// Time at a size; below the first point that of the first.
[[nodiscard]] double curve_ns(const MeasuredCurve& curve, double bytes);

/// Smallest size that the curve of this collective has; 0: no curve.
[[nodiscard]] double first_measured(const Cluster& cluster, const CollectiveCall& call);

/// The curve of this collective, number of ranks and nodes, if the machine has one. A scatter or
/// gather without a curve of its own has half of the all-reduce's inside a node.
[[nodiscard]] std::optional<CollectiveTime> measured_time(const Cluster& cluster,
                                                          const CollectiveCall& call);

}  // namespace foretrace
