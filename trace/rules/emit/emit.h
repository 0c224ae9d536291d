// From what the rules found to a task graph.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/graph_builder.h"
#include "trace/graph/built_graph.h"
#include "trace/rules/assembly/assembly.h"

namespace foretrace::trace::rules {

/// The graph of one rank.
[[nodiscard]] Result<BuiltGraph> emit(Assembly& assembly);

/// Builds the graph and brings recorded starts (per added task) into its order.
[[nodiscard]] Result<BuiltGraph> finish_graph(GraphBuilder builder,
                                              std::vector<std::int64_t> recorded,
                                              std::vector<MeasuredStep> steps, Honesty honesty);

}  // namespace foretrace::trace::rules
