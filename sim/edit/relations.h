// What belongs together: calls and the work they enqueue, halves of an operation, waits of a task.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/graph/task_graph.h"

namespace foretrace::transform {

/// Looked up once per graph; answers in constant time.
class Relations {
 public:
  explicit Relations(const TaskGraph& graph);

  /// The host task that enqueued a device task, or none.
  [[nodiscard]] TaskId launch_of(TaskId device_task) const { return launch_[index(device_task)]; }
  /// The dependency on it: its latency, and whether that counts from the end of the call or from
  /// its start. Without a launch its source is no_point.
  [[nodiscard]] Dependency launch_dependency(TaskId device_task) const;
  /// The device tasks that a host task enqueued, in id order.
  [[nodiscard]] std::span<const TaskId> enqueued_by(TaskId host_task) const;
  /// The other half of an operation of two tasks (begin and finish), or none.
  [[nodiscard]] TaskId other_half(TaskId task) const;
  /// The rules that a task waits by, as indices of GraphContext::waits.
  [[nodiscard]] std::span<const std::uint32_t> waits_of(TaskId task) const;

 private:
  const TaskGraph& graph_;
  std::vector<TaskId> launch_;
  std::vector<std::uint32_t> offsets_;
  std::vector<TaskId> enqueued_;
  std::vector<std::uint32_t> waits_;  // sorted by task
};

}  // namespace foretrace::transform
