// The host time on a critical path by what the host was doing: loader, optimizer, operators.
#pragma once

#include <vector>

#include "sim/engine/path/critical_path.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// Segments of the path split by the named regions of the trace that cover them, most time first,
/// each simulated without its time: `options` say how many, and what is measured. Host time that no
/// region covers has an empty label.
[[nodiscard]] std::vector<PathGroup> host_regions(const TaskGraph& graph, const CriticalPath& path,
                                                  const GainOptions& options = {});

}  // namespace foretrace
