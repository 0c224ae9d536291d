// From what the rules found to a task graph: one task per item of the program order.
#pragma once

#include "sim/core/result.h"
#include "trace/build_graph.h"
#include "trace/rules/assembly.h"

namespace foretrace::trace::rules {

[[nodiscard]] Result<BuiltGraph> emit(Assembly& assembly);

}  // namespace foretrace::trace::rules
