// Device memory over time: live bytes per rank and device, in host program order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace {

/// A tensor comes or goes; live bytes from here on.
struct MemoryPoint {
  std::int64_t time_ns = 0;
  std::int64_t live_bytes = 0;
  TaskId task{};  ///< the host task before which the tensor was allocated or freed
  TensorId tensor{};
  bool allocates = false;
};

inline constexpr std::size_t no_memory_point = static_cast<std::size_t>(-1);

struct MemoryCurve {
  std::int32_t rank = 0;
  std::int32_t device = 0;
  std::int64_t base_bytes = 0;  ///< live before the window
  std::int64_t peak_bytes = 0;
  std::int64_t peak_at_ns = 0;      ///< first time at which the peak is reached
  TaskId peak_task = none<TaskId>;  ///< none: the peak is the base
  std::size_t peak_point = no_memory_point;
  std::int64_t end_bytes = 0;
  std::array<std::int64_t, tensor_category_count> at_peak{};  ///< by TensorCategory
  std::vector<MemoryPoint> points;  ///< in the order of the allocator; times never go back
};

/// One curve per rank and device that holds tensors. The order of allocations is that of the host
/// threads as simulated, as an allocator sees it, whatever the device does meanwhile: each thread
/// in its program order, threads by time, equal times as recorded. No tensor is freed before it
/// came.
[[nodiscard]] std::vector<MemoryCurve> track_memory(const TaskGraph& graph,
                                                    const Timeline& timeline);

/// The tensors that are live when `point` of the curve has happened (no_memory_point: before the
/// first), in the order of their ids.
[[nodiscard]] std::vector<TensorId> live_tensors(const TaskGraph& graph, const MemoryCurve& curve,
                                                 std::size_t point);

}  // namespace foretrace
