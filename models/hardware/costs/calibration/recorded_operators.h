// Products and row operators of a recording, as a table to fit constants to.
#pragma once

#include <string>

#include "models/hardware/costs/calibration/operator_table.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// One row per operator, precision and recorded shape, with the median of its kernels' times.
/// Kernels without recorded shapes, or of an unknown precision, are no rows. `device`: what the
/// run was recorded on.
[[nodiscard]] OperatorTable recorded_operators(const TaskGraph& graph, const std::string& name,
                                               const std::string& device);

}  // namespace foretrace
