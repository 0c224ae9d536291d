// Primitive: merge.
#include "sim/edit/merge.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/edit/remove.h"
#include "sim/edit/rewire.h"

namespace foretrace::transform {

namespace {

Status check(const TaskGraph& graph, std::span<const Merge> merges) {
  std::vector<bool> seen(graph.size(), false);
  for (const Merge& merge : merges) {
    if (merge.tasks.empty()) return Error{ErrorCode::bad_usage, "merge: no tasks"};
    TaskId before = none<TaskId>;
    for (const TaskId task : merge.tasks) {
      if (index(task) >= graph.size() || seen[index(task)] ||
          (before != none<TaskId> && task < before)) {
        return Error{ErrorCode::bad_usage,
                     fmt::format("merge: task {} does not exist, is named twice or is out of order",
                                 index(task))};
      }
      if (graph.lane_id(task) != graph.lane_id(merge.tasks.front())) {
        return Error{ErrorCode::bad_usage,
                     fmt::format("merge: tasks {} and {} are on two lanes, '{}' and '{}'",
                                 index(merge.tasks.front()), index(task),
                                 graph.lane(merge.tasks.front()).name, graph.lane(task).name)};
      }
      seen[index(task)] = true;
      before = task;
    }
  }
  return ok_status();
}

DurationEdit merged_duration(const TaskGraph& graph, const Merge& merge) {
  DurationEdit edit{merge.tasks.back(), merge.duration_ns, merge.trust.provenance, merge.trust.low,
                    merge.trust.high};
  if (merge.duration_ns >= 0) return edit;
  edit = {merge.tasks.back(), 0, graph.provenance(merge.tasks.back())};
  for (const TaskId task : merge.tasks) {
    edit.duration_ns += graph.duration_ns(task);
    edit.provenance = std::max(edit.provenance, graph.provenance(task));
  }
  return edit;
}

}  // namespace

Status merge(Change& change, const TaskGraph& graph, const Relations& relations,
             std::span<const Merge> merges) {
  if (auto status = check(graph, merges); !status) return status;
  std::vector<TaskId> named;
  std::vector<bool> stays(graph.size(), false);
  std::vector<StandIn> groups;
  for (const Merge& merge : merges) {
    const TaskId last = merge.tasks.back();
    stays[index(last)] = true;
    named.insert(named.end(), merge.tasks.begin(), merge.tasks.end() - 1);
    groups.push_back({merge.tasks, last, last});
    change.durations.push_back(merged_duration(graph, merge));
    // The gap before the first operation is the one that remains.
    const bool gap = !is_host(graph.kind(last)) && merge.tasks.size() > 1;
    if (gap) {
      change.segments.push_back(
          {last, graph.segment_ns(merge.tasks.front()), graph.provenance(last)});
    }
  }
  std::vector<TaskId> going = with_partners(graph, relations, named);
  going.erase(std::remove_if(going.begin(), going.end(),
                             [&stays](TaskId task) { return stays[index(task)]; }),
              going.end());
  for (const TaskId task : going) {
    // Host time stays; the time before the first operation of a stream is in the edit above.
    change.removed.push_back({task, is_host(graph.kind(task)) ? SegmentOf::keep : SegmentOf::take});
  }
  rewire(change, graph, relations, groups, going);
  return ok_status();
}

}  // namespace foretrace::transform
