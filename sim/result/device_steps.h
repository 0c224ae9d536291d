// The device's side of steps: where the work launched in a step lies, and how much of the time it
// takes for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace {

/// Steps may overlap on a device: an instant counts for the work that began first, so that the sum
/// over all steps is the time that the device works.
struct DeviceStep {
  std::int64_t begin_ns = -1;  ///< first start; -1: the step launched no device work
  std::int64_t end_ns = -1;    ///< last end
  /// Operations and the short gaps that their streams need before them; collectives that only wait
  /// for late ranks are left out. No host makes a step shorter than this.
  std::int64_t work_ns = 0;
  std::int64_t occupied_ns = 0;  ///< the same with what waits for late ranks
  /// What each stream does for the step, by lane, whatever runs beside it.
  std::vector<std::pair<LaneId, std::int64_t>> streams{};
  std::size_t operations = 0;
  TaskId first = none<TaskId>;
  TaskId last = none<TaskId>;
};

/// One per step of the graph. Tasks that start before 0 were not recorded and do not count.
[[nodiscard]] std::vector<DeviceStep> device_steps(const TaskGraph& graph,
                                                   const Timeline& timeline);
/// What everything on the device occupies, in steps or not; of the rank whose device is occupied
/// longest.
[[nodiscard]] std::int64_t device_occupied_ns(const TaskGraph& graph, const Timeline& timeline);

}  // namespace foretrace
