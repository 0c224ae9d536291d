// From whatever a reader gave to a task graph: events by the rules, nodes by what the file says.
#pragma once

#include "sim/core/result.h"
#include "trace/graph/built_graph.h"
#include "trace/rules/build_graph.h"
#include "trace/table/loaded_trace.h"

namespace foretrace::trace {

/// The same for whatever a reader gave: events, or nodes with explicit dependencies. What can be
/// looked at but not simulated (memory over time) is an error that says what is missing.
[[nodiscard]] Result<BuiltGraph> build_graph(const LoadedTrace& trace,
                                             const BuildOptions& options = {});

}  // namespace foretrace::trace
