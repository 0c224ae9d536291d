// Phases and modules over time, as nested slices: what a stream works on, on every scale.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace {

/// From the first operation of a phase or module to its last in a row.
struct ModuleSlice {
  std::string_view name{};  ///< of the phase at depth 0, then of one module; lives with the graph
  std::size_t depth = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// The slices of one stream, each before those inside it. A phase or module that comes back later,
/// or in another step, has a slice for each time. Modules nest to a depth of 16.
[[nodiscard]] std::vector<ModuleSlice> module_slices(const TaskGraph& graph,
                                                     const Timeline& timeline, LaneId stream);

/// The stream of each rank and device that works longest, in the order of their lanes. Streams
/// without modules are not looked at.
[[nodiscard]] std::vector<LaneId> module_streams(const TaskGraph& graph);

}  // namespace foretrace
