// A graph as Graphviz text, to look at small ones.
#pragma once

#include <cstddef>
#include <string>

#include "sim/graph/task_graph.h"

namespace foretrace {

struct DotOptions {
  std::size_t first = 0;    ///< id of the first task shown
  std::size_t limit = 500;  ///< tasks shown; the text says how many were left out
};

/// One cluster per lane, one box per task with its duration; edges carry kind and lag, symbolic
/// ones (waits and queues) are dashed.
[[nodiscard]] std::string to_dot(const TaskGraph& graph, const DotOptions& options = {});

}  // namespace foretrace
