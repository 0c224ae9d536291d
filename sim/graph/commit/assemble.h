// From a draft in topological order to a graph: lane order, slots, overflow list, forward CSR.
#pragma once

#include <vector>

#include "sim/core/result.h"
#include "sim/graph/commit/draft.h"
#include "sim/graph/task_graph.h"

namespace foretrace::committing {

/// The draft has passed check() and nothing in it points forward.
[[nodiscard]] TaskGraph assemble(Draft draft);

/// Orders and assembles a checked draft; new_id[t] is where task t went, empty if all stayed.
[[nodiscard]] Result<TaskGraph> order_and_assemble(Draft draft, std::vector<TaskId>& new_id);

}  // namespace foretrace::committing
