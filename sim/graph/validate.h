// Checks every invariant of a task graph; for tests, fuzzing and graphs that others put together.
#pragma once

#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// Ids in range, weights that make sense, lanes in program order, every dependency pointing
/// backwards, sorted side tables, and a forward list that names each dependency once. Says which
/// task breaks what. Costs a few passes over the graph.
[[nodiscard]] Status validate(const TaskGraph& graph);

}  // namespace foretrace
