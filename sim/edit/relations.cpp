// What belongs together in a graph.
#include "sim/edit/relations.h"

#include <algorithm>
#include <numeric>

namespace foretrace::transform {

namespace {

bool on_stream(const TaskGraph& graph, TaskId task) {
  const LaneKind kind = graph.lane(task).kind;
  return kind == LaneKind::stream || kind == LaneKind::copy_direction || kind == LaneKind::channel;
}

/// The first dependency of kind launch on a host task; as the launch queues see it.
TaskId find_launch(const TaskGraph& graph, TaskId task) {
  const Topology& topology = graph.topology();
  for (std::size_t slot = cause_slot; slot <= extra_slot; ++slot) {
    const Point source = topology.sources[index(task)][slot];
    if (source == no_point) continue;
    if (kind_of(topology.kinds[index(task)][slot]) != DependencyKind::launch) continue;
    if (is_host(graph.kind(task_of(source)))) return task_of(source);
  }
  return none<TaskId>;
}

}  // namespace

Relations::Relations(const TaskGraph& graph)
    : graph_(graph), launch_(graph.size(), none<TaskId>), offsets_(graph.size() + 1, 0) {
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = make_id<TaskId>(t);
    if (on_stream(graph, task)) launch_[t] = find_launch(graph, task);
  }
  for (const OverflowDependency& d : graph.topology().overflow) {
    TaskId& launch = launch_[index(d.task)];
    const bool found = launch == none<TaskId> && d.kind == DependencyKind::launch &&
                       on_stream(graph, d.task) && is_host(graph.kind(task_of(d.source)));
    if (found) launch = task_of(d.source);
  }
  for (const TaskId launch : launch_) {
    if (launch != none<TaskId>) ++offsets_[index(launch) + 1];
  }
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  enqueued_.resize(offsets_.back());
  std::vector<std::uint32_t> next(offsets_.begin(), offsets_.end() - 1);
  for (std::size_t t = 0; t < graph.size(); ++t) {
    if (launch_[t] != none<TaskId>) enqueued_[next[index(launch_[t])]++] = make_id<TaskId>(t);
  }
  const std::vector<Wait>& waits = graph.context().waits;
  waits_.resize(waits.size());
  std::iota(waits_.begin(), waits_.end(), 0U);
  std::stable_sort(waits_.begin(), waits_.end(), [&waits](std::uint32_t a, std::uint32_t b) {
    return waits[a].task < waits[b].task;
  });
}

Dependency Relations::launch_dependency(TaskId device_task) const {
  const TaskId launch = launch_of(device_task);
  if (launch == none<TaskId>) return {};
  for (const Dependency& d : dependencies_of(graph_, device_task)) {
    if (d.kind == DependencyKind::launch && task_of(d.source) == launch) return d;
  }
  return {};
}

std::span<const TaskId> Relations::enqueued_by(TaskId host_task) const {
  const std::size_t t = index(host_task);
  return {enqueued_.data() + offsets_[t], enqueued_.data() + offsets_[t + 1]};
}

std::span<const std::uint32_t> Relations::waits_of(TaskId task) const {
  const std::vector<Wait>& waits = graph_.context().waits;
  const auto first =
      std::lower_bound(waits_.begin(), waits_.end(), task,
                       [&waits](std::uint32_t row, TaskId id) { return waits[row].task < id; });
  auto last = first;
  while (last != waits_.end() && waits[*last].task == task) ++last;
  return {waits_.data() + (first - waits_.begin()), waits_.data() + (last - waits_.begin())};
}

TaskId Relations::other_half(TaskId task) const {
  const TaskPart part = graph_.work(task).part;
  const Topology& topology = graph_.topology();
  if (part == TaskPart::finish) {
    const Point before = topology.sources[index(task)][lane_slot];
    if (before == no_point) return none<TaskId>;
    return graph_.work(task_of(before)).part == TaskPart::begin ? task_of(before) : none<TaskId>;
  }
  if (part != TaskPart::begin) return none<TaskId>;
  const std::size_t t = index(task);
  for (std::uint32_t i = topology.forward_offsets[t]; i < topology.forward_offsets[t + 1]; ++i) {
    if ((topology.forward[i] & 3U) != lane_slot) continue;
    const auto next = make_id<TaskId>(topology.forward[i] >> 2U);
    return graph_.work(next).part == TaskPart::finish ? next : none<TaskId>;
  }
  return none<TaskId>;
}

}  // namespace foretrace::transform
