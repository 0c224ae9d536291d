// How much of its device a simulated run uses.
#pragma once

#include "apps/predictor/source.h"
#include "apps/session/replay/run.h"
#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// Errors: device work on several devices (of ranks or of one process), or on none.
[[nodiscard]] Status check_one_device(const TaskGraph& graph);

/// Of a usual step; of the whole span where no steps were recorded.
[[nodiscard]] DeviceUse use_of(const TaskGraph& graph, const Run& run);

}  // namespace foretrace
