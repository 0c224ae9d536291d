#include "sim/graph/commit/stand_ins.h"

#include <algorithm>

#include "sim/core/whole.h"

namespace foretrace::committing {

namespace {

/// Durations of stand-ins as the change says them.
std::vector<std::int64_t> lengths(const TaskGraph& graph, const Change& change) {
  std::vector<std::int64_t> edited(graph.size() + change.inserted.size(), -1);
  for (const DurationEdit& edit : change.durations) edited[index(edit.task)] = edit.duration_ns;
  std::vector<std::int64_t> result;
  for (const StandIn& group : change.stand_ins) {
    if (group.entry != group.exit) {
      result.push_back(-1);
    } else if (edited[index(group.entry)] >= 0) {
      result.push_back(edited[index(group.entry)]);
    } else if (index(group.entry) < graph.size()) {
      result.push_back(graph.duration_ns(group.entry));
    } else {
      result.push_back(change.inserted[index(group.entry) - graph.size()].task.duration_ns);
    }
  }
  return result;
}

}  // namespace

StandIns::StandIns(const TaskGraph& graph, const Change& change)
    : graph_(graph), groups_(change.stand_ins) {
  if (groups_.empty()) return;
  group_.assign(graph.size(), 0);
  before_ns_.assign(graph.size(), 0);
  length_ns_ = lengths(graph, change);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    std::int64_t before_ns = 0;
    for (const TaskId member : groups_[g].members) {
      group_[index(member)] = static_cast<std::uint32_t>(g + 1);
      before_ns_[index(member)] = before_ns;
      before_ns += graph.duration_ns(member);
    }
  }
}

Point StandIns::point(Point point) const {
  if (point == no_point) return point;
  const StandIn* group = of(task_of(point));
  if (group == nullptr) return point;
  return is_end(point) ? end_of(group->exit) : start_of(group->entry);
}

Dependency StandIns::hand_over(Dependency d) const {
  d.late_after = point(d.late_after);
  const TaskId source = task_of(d.source);
  const StandIn* group = of(source);
  if (group == nullptr) return d;
  // A share of the member's duration, which is gone, as time.
  std::int64_t later_ns =
      to_whole(static_cast<double>(d.fraction) * static_cast<double>(graph_.duration_ns(source)));
  d.fraction = 0.0F;
  if (!is_end(d.source)) {
    // A point inside the stand-in, never beyond it.
    const std::int64_t length_ns = length_ns_[group_[index(source)] - 1];
    later_ns += before_ns_[index(source)];
    if (length_ns >= 0) later_ns = std::min(later_ns, length_ns);
  }
  d.source = point(d.source);
  d.lag_ns += later_ns;
  return d;
}

}  // namespace foretrace::committing
