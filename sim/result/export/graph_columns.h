// A task graph as columns of small integers, for a page that simulates it again.
//
// Every column is a run of zigzag LEB128 varints of (value / unit), one column after the other, so
// that equal things lie together and compress; behind a 0 stands, unsigned, how many more follow.
// Ids become distances: a source is stored as how far it lies back, the one of the lane as 0 where
// it is the task before. A changed graph is stored as what differs from the one it came from, task
// by task: nearly all is 0; where who waits for whom is the same, columns that are the same are
// left out. The reader is apps/explorer/engine/graph_reader.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/graph/task_graph.h"

namespace foretrace {

struct PackedColumn {
  std::string name;
  std::size_t offset = 0;  ///< in PackedGraph::bytes
  std::size_t bytes = 0;
  std::size_t count = 0;
  std::int64_t unit = 1;  ///< the figures are multiples of it
};

struct PackedGraph {
  std::string bytes;
  std::vector<PackedColumn> columns;
};

[[nodiscard]] PackedGraph pack_graph(const TaskGraph& graph);

/// `origin`: per task of the graph the task of `base` that it was; none: it was inserted. Empty:
/// ids are unchanged.
[[nodiscard]] PackedGraph pack_variant(const TaskGraph& graph, const TaskGraph& base,
                                       std::span<const TaskId> origin);

/// Whether all figures, and all times that they add up to, are integers that a double holds.
[[nodiscard]] bool fits_doubles(const TaskGraph& graph);

}  // namespace foretrace
