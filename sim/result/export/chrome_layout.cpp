// Where the tasks of a graph lie in a trace viewer.
#include "sim/result/export/chrome_layout.h"

#include <algorithm>

namespace foretrace {

ChromeLayout::ChromeLayout(const TaskGraph& graph, const Timeline& timeline)
    : graph_(graph),
      timeline_(timeline),
      partner_(graph.size(), none<TaskId>),
      previous_(graph.size(), none<TaskId>),
      next_(graph.size(), none<TaskId>) {
  std::vector<TaskId> last(graph.context().lanes.size(), none<TaskId>);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    TaskId& before = last[index(graph.lane_id(task))];
    previous_[i] = before;
    if (before != none<TaskId>) {
      next_[index(before)] = task;
      // The finish of a pair directly follows its begin on its lane.
      if (graph.work(task).part == TaskPart::finish && graph.work(before).part == TaskPart::begin) {
        partner_[i] = before;
        partner_[index(before)] = task;
      }
    }
    before = task;
  }
}

TaskId ChromeLayout::slice_of(TaskId task) const {
  const TaskId partner = partner_[index(task)];
  return partner != none<TaskId> && index(partner) < index(task) ? partner : task;
}

std::int64_t ChromeLayout::slice_end(TaskId first) const {
  const TaskId last = is_pair(first) ? partner_[index(first)] : first;
  const std::int64_t end = timeline_.end_ns(last);
  const TaskId next = next_[index(last)];
  const std::int64_t limit = next == none<TaskId> ? end : timeline_.start_ns(next);
  return limit > timeline_.start_ns(first) ? std::min(end, limit) : end;
}

std::int64_t ChromeLayout::waited_ns(TaskId first) const {
  const TaskId last = partner_[index(first)];
  const std::int64_t busy = graph_.duration_ns(first) + graph_.duration_ns(last);
  return std::max<std::int64_t>(0, timeline_.end_ns(last) - timeline_.start_ns(first) - busy);
}

std::int64_t ChromeLayout::tail_ns(TaskId source) const {
  const std::int64_t start = timeline_.start_ns(slice_of(source));
  if (!is_mark(source)) return start;
  const TaskId before = previous(source);
  return graph_.segment_ns(source) > 0 || before == none<TaskId>
             ? std::max<std::int64_t>(0, start - 1)
             : timeline_.start_ns(slice_of(before));
}

}  // namespace foretrace
