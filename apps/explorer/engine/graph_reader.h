// Graphs out of the columns that sim/result/export/graph_columns.h describes: what a page holds.
#pragma once

#include <vector>

#include "sim/core/result.h"
#include "sim/graph/task_graph.h"
#include "sim/result/export/graph_columns.h"

namespace foretrace::explorer {

/// A graph with all that engines and summaries ask for. It knows what each task waits for, but not
/// who waits for a task: nobody who only simulates looks forward.
struct HeldColumns {
  TaskGraph graph;
  std::vector<TaskId> origin;  ///< as pack_variant() was given it
};

/// What pack_graph() wrote. `context`: works, lanes and steps, which no column holds.
[[nodiscard]] Result<HeldColumns> read_graph(const PackedGraph& packed, GraphContext context);
/// What pack_variant() wrote of a graph that came from `base`. What was left out is shared with it.
[[nodiscard]] Result<HeldColumns> read_variant(const PackedGraph& packed, const TaskGraph& base,
                                               GraphContext context);

}  // namespace foretrace::explorer
