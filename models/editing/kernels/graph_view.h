// Relations of a graph that what-ifs read: order on lanes, which call launched which work.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/graph/task_graph.h"

namespace foretrace::detail {

class GraphView {
 public:
  explicit GraphView(const TaskGraph& graph);

  /// Neighbours on the same lane; none at its ends.
  [[nodiscard]] TaskId next(TaskId task) const { return next_[index(task)]; }
  [[nodiscard]] TaskId previous(TaskId task) const { return previous_[index(task)]; }
  /// The call that enqueued a device task; none if it is not in the window.
  [[nodiscard]] TaskId launcher(TaskId device_task) const { return launcher_[index(device_task)]; }
  /// Device tasks that a call enqueued, in stream order.
  [[nodiscard]] std::span<const TaskId> launched(TaskId call) const;
  /// The first task of every lane, by LaneId.
  [[nodiscard]] TaskId first_of(LaneId lane) const { return first_[index(lane)]; }
  /// Length of the measured latency from the call's point to the device task, in ns.
  [[nodiscard]] std::int64_t launch_lag(TaskId device_task) const;

  /// True for a launch call that returns at once (not the begin of a blocking copy).
  [[nodiscard]] bool is_plain_launch(TaskId task) const;
  /// True for a task that starts or ends a wait of the host: synchronization, blocking copy.
  [[nodiscard]] bool blocks(TaskId task) const;
  /// True if another host thread hands over to this task or takes over from it.
  [[nodiscard]] bool hands_over(TaskId task) const { return hands_over_[index(task)]; }

  /// Median duration of plain launch calls of kernels; 0 without any.
  [[nodiscard]] std::int64_t median_launch_ns() const;
  /// Median latency from a plain launch to its kernel.
  [[nodiscard]] std::int64_t median_launch_lag_ns() const;

 private:
  void take_launch(TaskId task, Point source, std::int64_t lag_ns);

  const TaskGraph& graph_;
  std::vector<TaskId> next_;
  std::vector<TaskId> previous_;
  std::vector<TaskId> first_;
  std::vector<TaskId> launcher_;
  std::vector<std::int64_t> launch_lag_;
  std::vector<std::uint32_t> launched_offset_;
  std::vector<TaskId> launched_;
  std::vector<bool> hands_over_;
};

/// The middle value (lower of two); 0 of none.
[[nodiscard]] std::int64_t median(std::vector<std::int64_t> values);

}  // namespace foretrace::detail
