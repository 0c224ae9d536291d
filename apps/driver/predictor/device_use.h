// How much of its device a simulated run uses.
#pragma once

#include "apps/driver/predict.h"
#include "apps/driver/predictor/source.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// Of a usual step; of the whole span where no steps were recorded.
[[nodiscard]] DeviceUse use_of(const TaskGraph& graph, const driver::Run& run);

}  // namespace foretrace
