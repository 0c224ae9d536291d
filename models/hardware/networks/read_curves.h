// Measured curves of collectives in the file of a cluster.
#pragma once

#include <vector>

#include "models/hardware/networks/cluster.h"
#include "sim/core/config.h"

namespace foretrace {

/// Measured collectives: a list of {collective, ranks, nodes, bytes, times, source}.
void read_curves(ConfigFields& fields, std::vector<MeasuredCurve>& curves);

}  // namespace foretrace
