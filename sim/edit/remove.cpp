// Edits that take away.
#include <algorithm>

#include "sim/edit/editor.h"
#include "sim/graph/links.h"

namespace foretrace {

std::vector<TaskId> Editor::remove(std::span<const TaskId> tasks, const RemoveOptions& options) {
  std::vector<TaskId> going;
  std::vector<TaskId> open;
  const auto take = [&](TaskId task) {
    // What stands for others stays.
    if (task == none<TaskId> || is_gone(task) || is_replaced(task)) return;
    const SegmentOf segment = is_host(graph_.kind(task)) ? options.host : options.device;
    mark_gone(task, segment);
    going.push_back(task);
    open.push_back(task);
  };
  for (const TaskId task : tasks) take(task);
  while (!open.empty() && options.partners == Partners::both) {
    const TaskId task = open.back();
    open.pop_back();
    take(other_half(graph_, task));
    for (const TaskId device : launched_by(graph_, task)) take(device);
    const TaskId call = launch_of(graph_, task);
    if (call == none<TaskId>) continue;
    const LaunchedBy work = launched_by(graph_, call);
    if (std::all_of(work.begin(), work.end(), [this](TaskId t) { return is_gone(t); })) take(call);
  }
  std::sort(going.begin(), going.end());
  return going;
}

void Editor::remove_dependencies(TaskId task, DependencyKind kind, TaskId source) {
  change_.removed_dependencies.push_back({task, kind, source});
}

}  // namespace foretrace
