// Hands the dependencies of groups of tasks over to the tasks that stand in for them.
#pragma once

#include <span>
#include <vector>

#include "sim/edit/relations.h"
#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"

namespace foretrace::transform {

/// The explicit dependencies into a task (no waits, no queues, not its lane).
[[nodiscard]] std::vector<Dependency> incoming(const TaskGraph& graph, TaskId task);
/// The explicit dependencies of other tasks on a task.
[[nodiscard]] std::vector<Dependency> outgoing(const TaskGraph& graph, TaskId task);

/// A group of tasks and what takes its place.
struct StandIn {
  std::vector<TaskId> members;  ///< in id order; no task is a member of two groups
  TaskId entry{};               ///< waits for what the members waited for
  /// Others wait for its end; may be the entry. None: for calls that go, which block nobody; who
  /// waited for them waits for what they came after, as commit() does by itself.
  TaskId exit = none<TaskId>;
};

/// Dependencies and waits into members become ones into the entry; those on the end of a member
/// become ones on the end of the exit; those on its start are on the start of the entry, later by
/// the members before it. `going` are all tasks that the change removes, in id order: members or
/// launches of members. A member that stays keeps what does not change.
void rewire(Change& change, const TaskGraph& graph, const Relations& relations,
            std::span<const StandIn> groups, std::span<const TaskId> going);

}  // namespace foretrace::transform
