// Primitive: remove.
#include "sim/edit/remove.h"

#include <algorithm>

namespace foretrace::transform {

std::vector<TaskId> with_partners(const TaskGraph& graph, const Relations& relations,
                                  std::span<const TaskId> tasks) {
  std::vector<bool> goes(graph.size(), false);
  std::vector<TaskId> open(tasks.begin(), tasks.end());
  for (const TaskId task : tasks) goes[index(task)] = true;
  const auto take = [&](TaskId task) {
    if (task == none<TaskId> || goes[index(task)]) return;
    goes[index(task)] = true;
    open.push_back(task);
  };
  while (!open.empty()) {
    const TaskId task = open.back();
    open.pop_back();
    take(relations.other_half(task));
    for (const TaskId device : relations.enqueued_by(task)) take(device);
    const TaskId launch = relations.launch_of(task);
    if (launch == none<TaskId>) continue;
    const auto work = relations.enqueued_by(launch);
    const bool all = std::all_of(work.begin(), work.end(),
                                 [&goes](TaskId device) { return goes[index(device)]; });
    if (all) take(launch);
  }
  std::vector<TaskId> result;
  for (std::size_t t = 0; t < goes.size(); ++t) {
    if (goes[t]) result.push_back(make_id<TaskId>(t));
  }
  return result;
}

std::vector<TaskId> remove(Change& change, const TaskGraph& graph, std::span<const TaskId> tasks,
                           SegmentOf segment, Partners partners) {
  std::vector<TaskId> going(tasks.begin(), tasks.end());
  if (partners == Partners::both) going = with_partners(graph, Relations(graph), tasks);
  change.removed.reserve(change.removed.size() + going.size());
  for (const TaskId task : going) change.removed.push_back({task, segment});
  return going;
}

}  // namespace foretrace::transform
