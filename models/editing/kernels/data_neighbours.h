// Who stands next to whom on a stream, by what they read and write.
#pragma once

#include "sim/graph/links.h"
#include "sim/graph/task_graph.h"

namespace foretrace::editing {

/// A kernel that is said to read and write nothing: it may stand between two others, never between
/// what one of them writes and the other reads.
[[nodiscard]] inline bool moves_nothing(const TaskGraph& graph, TaskId task) {
  return graph.kind(task) == TaskKind::kernel && graph.work(task).bytes == 0;
}
/// A call that launches such a kernel and nothing else.
[[nodiscard]] inline bool launches_what_moves_nothing(const TaskGraph& graph, TaskId call) {
  if (!is_plain_launch(graph, call)) return false;
  const TaskId kernel = launched_by(graph, call).only();
  return kernel != none<TaskId> && moves_nothing(graph, kernel);
}

/// The next (the last before) of its lane that is no such kernel; none at the end.
[[nodiscard]] inline TaskId data_after(const TaskGraph& graph, TaskId task) {
  do {
    task = next_on_lane(graph, task);
  } while (task != none<TaskId> && moves_nothing(graph, task));
  return task;
}
[[nodiscard]] inline TaskId data_before(const TaskGraph& graph, TaskId task) {
  do {
    task = previous_on_lane(graph, task);
  } while (task != none<TaskId> && moves_nothing(graph, task));
  return task;
}

}  // namespace foretrace::editing
