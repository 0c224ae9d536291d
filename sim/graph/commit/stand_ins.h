// Who takes the place of whom: points and dependencies of replaced tasks, handed over.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"

namespace foretrace::committing {

class StandIns {
 public:
  StandIns(const TaskGraph& graph, const Change& change);

  [[nodiscard]] const std::vector<StandIn>& groups() const { return groups_; }
  /// The group that a task of the change is a member of, or null.
  [[nodiscard]] const StandIn* of(TaskId task) const {
    const bool member = index(task) < group_.size() && group_[index(task)] != 0;
    return member ? &groups_[group_[index(task)] - 1] : nullptr;
  }
  /// The point itself, or that of the stand-in.
  [[nodiscard]] Point point(Point point) const;
  /// The dependency with source and condition handed over where they are members.
  [[nodiscard]] Dependency hand_over(Dependency d) const;

 private:
  const TaskGraph& graph_;
  const std::vector<StandIn>& groups_;
  std::vector<std::uint32_t> group_;  // per task of the graph: 1 + its group; empty without groups
  std::vector<std::int64_t>
      before_ns_;  // per task of the graph: durations of the members before it
  std::vector<std::int64_t> length_ns_;  // per group: of the stand-in; -1 if it is several tasks
};

}  // namespace foretrace::committing
