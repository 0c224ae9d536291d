// Streams of their own for copies that a policy starts while a graph runs.
#pragma once

#include <cstdint>
#include <utility>

#include "sim/graph/task_graph.h"

namespace foretrace::editing {

/// What with_copy_lanes() has put into a graph for one device.
struct CopyPlaces {
  LaneId out{};  ///< to the host
  LaneId in{};   ///< to the device
  WorkId call{};
  WorkId out_work{};
  WorkId in_work{};
};
/// The graph must have them.
[[nodiscard]] CopyPlaces copy_places(const TaskGraph& graph,
                                     std::pair<std::int32_t, std::int32_t> rank_and_device);

}  // namespace foretrace::editing
