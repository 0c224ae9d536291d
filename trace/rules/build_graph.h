// From events to a task graph: runs the dependency rules in order and reports what they could not
// explain.
#pragma once

#include "sim/core/result.h"
#include "trace/graph/built_graph.h"
#include "trace/table/events.h"

namespace foretrace::trace {

[[nodiscard]] Result<BuiltGraph> build_graph(const EventTable& events,
                                             const BuildOptions& options = {});

}  // namespace foretrace::trace
