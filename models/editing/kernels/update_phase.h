// Finds the optimizer's updates in a graph: runs of launches of elementwise kernels, tensor by
// tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/hardware/costs/kernel_cost.h"
#include "sim/graph/task_graph.h"

namespace foretrace::editing {

/// Launches of one update on one thread and stream, without a wait between them.
struct Update {
  std::vector<TaskId> calls;  ///< in program order
  LaneId stream{};
  std::int64_t device_ns = 0;      ///< of the kernels they launch
  std::size_t tensors = 1;         ///< parameters tensors, from how often operators repeat
  double parameters = 0;           ///< numbers in them; 0: shapes not recorded
  double bytes_per_parameter = 0;  ///< by the operators seen: Adam, momentum, plain
};

[[nodiscard]] std::vector<Update> find_updates(const TaskGraph& graph,
                                               const std::vector<KernelDescription>& kernels);

}  // namespace foretrace::editing
