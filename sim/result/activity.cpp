#include "sim/result/activity.h"

#include <algorithm>

#include "sim/graph/links.h"

namespace foretrace {
namespace {

std::vector<bool> lanes_of_host(const TaskGraph& graph) {
  std::vector<bool> host;
  for (const Lane& lane : graph.context().lanes) {
    host.push_back(lane.kind == LaneKind::host_thread);
  }
  return host;
}

}  // namespace

std::vector<bool> launching_lanes(const TaskGraph& graph) {
  std::vector<bool> launches(graph.context().lanes.size(), false);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.kind(task) == TaskKind::launch) launches[index(graph.lane_id(task))] = true;
  }
  if (std::find(launches.begin(), launches.end(), true) == launches.end()) {
    return lanes_of_host(graph);
  }
  std::vector<bool> binds = launches;
  for (const Step& step : graph.context().steps) {
    for (const TaskId mark : {step.begin, step.end}) {
      if (is_host(graph.kind(mark))) binds[index(graph.lane_id(mark))] = true;
    }
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (!launches[index(graph.lane_id(task))] || !is_host(graph.kind(task))) continue;
    for (const Link& link : sources(graph, task)) {
      const TaskId source = task_of(link.source);
      if (!link.on_lane() && is_host(graph.kind(source))) {
        binds[index(graph.lane_id(source))] = true;
      }
    }
  }
  return binds;
}

std::array<ActivitySpan, 2> device_activities(const TaskGraph& graph, const Timeline& timeline,
                                              TaskId task) {
  const std::int64_t start = timeline.start_ns(task);
  const std::int64_t end = timeline.end_ns(task);
  const TaskKind kind = graph.kind(task);
  const TaskPart part = graph.work(task).part;
  if (kind == TaskKind::copy) return {{{Activity::copy, start, end}}};
  if (kind != TaskKind::collective && kind != TaskKind::transfer) {
    return {{{Activity::compute, start, end}}};
  }
  if (part == TaskPart::begin) return {{{Activity::waiting, start, end}}};
  const TaskId begin = part == TaskPart::finish ? previous_on_lane(graph, task) : none<TaskId>;
  const std::int64_t arrived = begin == none<TaskId> ? start : timeline.end_ns(begin);
  return {{{Activity::waiting, arrived, start}, {Activity::transfer, start, end}}};
}

ActivitySpan segment_activity(const TaskGraph& graph, const Timeline& timeline, TaskId task) {
  const TaskId before = previous_on_lane(graph, task);
  const std::int64_t from = before == none<TaskId> ? 0 : timeline.end_ns(before);
  return {Activity::host, from, std::min(from + graph.segment_ns(task), timeline.start_ns(task))};
}

}  // namespace foretrace
