// What a change may name: tasks that stay, tasks that something stands in for, lanes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/change.h"
#include "sim/graph/commit/commit_parts.h"
#include "sim/graph/task_graph.h"

namespace foretrace::committing {

class KnownTasks {
 public:
  KnownTasks(const TaskGraph& graph, const Change& change)
      : graph_(graph),
        change_(change),
        known_(graph.size() + change.inserted.size()),
        lanes_(graph.context().lanes.size() + change.new_lanes.size()) {}

  [[nodiscard]] const TaskGraph& graph() const { return graph_; }
  [[nodiscard]] const Change& change() const { return change_; }
  /// Ids below are tasks of the graph or inserted ones.
  [[nodiscard]] std::size_t known() const { return known_; }
  [[nodiscard]] bool goes(TaskId task) const {
    return !fate_.empty() && fate_[index(task)] != Fate::kept;
  }

  [[nodiscard]] std::string name(TaskId task) const;
  [[nodiscard]] Status exists(TaskId task, const char* what) const;
  [[nodiscard]] Status stays(TaskId task, const char* what) const;
  [[nodiscard]] Status lane_exists(LaneId lane, const char* what) const;

 protected:
  const TaskGraph& graph_;
  const Change& change_;
  std::size_t known_;
  std::size_t lanes_;
  std::vector<Fate> fate_;  // empty: nothing is removed
};

/// Stand-ins, dependencies and waits of a change.
[[nodiscard]] Status check_links(const KnownTasks& tasks);

}  // namespace foretrace::committing
