// Steps as a trace recorded them.
#pragma once

#include "sim/result/steps/steps.h"
#include "trace/assemble/build_graph.h"

namespace foretrace {

/// Steps as the trace recorded them.
[[nodiscard]] StepTimes measured_steps(const trace::BuiltGraph& built);

}  // namespace foretrace
