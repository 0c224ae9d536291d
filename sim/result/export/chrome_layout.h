// Where the tasks of a graph lie in a trace viewer: tracks, and slices that do not overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace {

/// Slices of an executed graph. Begin and finish of a blocking call share one slice; marks have
/// none.
class ChromeLayout {
 public:
  ChromeLayout(const TaskGraph& graph, const Timeline& timeline);

  [[nodiscard]] bool is_mark(TaskId task) const { return graph_.kind(task) == TaskKind::mark; }
  /// The task before on the same lane, or none.
  [[nodiscard]] TaskId previous(TaskId task) const { return previous_[index(task)]; }
  /// The first task of the slice that shows `task`.
  [[nodiscard]] TaskId slice_of(TaskId task) const;
  [[nodiscard]] bool is_pair(TaskId first) const { return partner_[index(first)] != none<TaskId>; }
  /// Kernels of a stream may overlap a little (programmatic launch); viewers want slices that do
  /// not, so the earlier one is shown up to the start of the later.
  [[nodiscard]] std::int64_t slice_end(TaskId first) const;
  /// How long the call of a slice waited, beside its own work.
  [[nodiscard]] std::int64_t waited_ns(TaskId first) const;
  /// When an arrow that leaves `source` starts: viewers bind it to the slice that is open then. A
  /// mark has no slice: its arrows leave the host time before it.
  [[nodiscard]] std::int64_t tail_ns(TaskId source) const;

 private:
  const TaskGraph& graph_;
  const Timeline& timeline_;
  std::vector<TaskId> partner_;  // the other half of a blocking call
  std::vector<TaskId> previous_;
  std::vector<TaskId> next_;
};

}  // namespace foretrace
