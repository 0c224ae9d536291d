// Later launches are those behind the call in program order, of any thread.
#include "models/editing/kernels/host_wait.h"

#include "sim/graph/links.h"

namespace foretrace::editing {

void forget_later_work(Editor& editor, TaskId call, TaskId last) {
  const TaskGraph& graph = editor.graph();
  for (std::size_t t = index(call) + 1; t <= index(last); ++t) {
    const auto task = make_id<TaskId>(t);
    for (const Link& link : sources(graph, task)) {
      if (link.kind != DependencyKind::capacity) continue;
      const TaskId other = task_of(link.source);
      const TaskId launch = launch_of(graph, other);
      if (launch == none<TaskId> || launch < call) continue;
      editor.remove_dependencies(task, DependencyKind::capacity, other);
    }
  }
}

}  // namespace foretrace::editing
