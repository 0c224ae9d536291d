// Graphs that differ from a recording in what shipped what-ifs leave as it was, and the page
// shares.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/graph/task_graph.h"

namespace foretrace::test {

/// By name: tasks that do another kind of work, works that are another kind in place, tensors of
/// other sizes, and others that live longer. No task comes, goes or moves.
[[nodiscard]] std::vector<std::pair<std::string, TaskGraph>> hand_made(const TaskGraph& recorded);

}  // namespace foretrace::test
