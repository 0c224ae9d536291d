// What a launch usually costs in a recording; for calls that a what-if puts in.
#pragma once

#include <cstdint>

#include "sim/graph/task_graph.h"

namespace foretrace::editing {

/// Medians over plain launches of one kernel; 0 without any.
struct LaunchTimes {
  std::int64_t call_ns = 0;     ///< duration of the call
  std::int64_t latency_ns = 0;  ///< from the call to its kernel, on an idle stream
};
[[nodiscard]] LaunchTimes usual_launch(const TaskGraph& graph);

}  // namespace foretrace::editing
