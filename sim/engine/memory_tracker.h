// Device memory over time: live bytes per rank and device, in host program order.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace {

inline constexpr std::size_t tensor_category_count = 8;

/// Live bytes from here on.
struct MemoryPoint {
  std::int64_t time_ns = 0;
  std::int64_t live_bytes = 0;
  TaskId task{};  ///< the host task before which the tensor was allocated or freed
};

struct MemoryCurve {
  std::int32_t rank = 0;
  std::int32_t device = 0;
  std::int64_t base_bytes = 0;  ///< live before the window
  std::int64_t peak_bytes = 0;
  std::int64_t peak_at_ns = 0;      ///< first time at which the peak is reached
  TaskId peak_task = none<TaskId>;  ///< none: the peak is the base
  std::int64_t end_bytes = 0;
  std::array<std::int64_t, tensor_category_count> at_peak{};  ///< by TensorCategory
  std::vector<MemoryPoint> points;  ///< in host program order; times never go back
};

/// One curve per rank and device that holds tensors. The order of allocations is that of the host
/// program, as an allocator sees it, whatever the device does meanwhile; only the time stamps come
/// from the timeline.
[[nodiscard]] std::vector<MemoryCurve> track_memory(const TaskGraph& graph,
                                                    const Timeline& timeline);

}  // namespace foretrace
