// What an event-driven run executed, as a graph of its own.
#pragma once

#include <string_view>
#include <vector>

#include "sim/core/result.h"
#include "sim/engine/event/event_driven.h"
#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace {

struct ExecutedGraph {
  TaskGraph graph;
  Timeline timeline;              ///< of `graph`
  std::vector<bool> is_appended;  ///< per task: a policy put it there
};

/// The graph with the tasks that a policy appended where they ran, and every dependency that held:
/// those of the graph with waits and queues as recorded, and those that were added. Host time that
/// had passed before a policy put calls in front of a task stands in front of these calls. What a
/// policy did once more, work that the graph has too, gets `again` in front of its name. For runs
/// with WaitResolution::recorded; nothing can be simulated from it, since waits are resolved.
[[nodiscard]] Result<ExecutedGraph> executed_graph(const TaskGraph& graph,
                                                   const Execution& execution,
                                                   std::string_view again);

}  // namespace foretrace
