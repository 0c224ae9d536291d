// One pass over slots and overflow dependencies.
#include "models/editing/kernels/graph_view.h"

#include <algorithm>

namespace foretrace::detail {

GraphView::GraphView(const TaskGraph& graph)
    : graph_(graph),
      next_(graph.size(), none<TaskId>),
      previous_(graph.size(), none<TaskId>),
      first_(graph.context().lanes.size(), none<TaskId>),
      launcher_(graph.size(), none<TaskId>),
      launch_lag_(graph.size(), 0),
      launched_offset_(graph.size() + 1, 0),
      hands_over_(graph.size(), false) {
  std::vector<TaskId> last(first_.size(), none<TaskId>);
  const Topology& topology = graph.topology();
  const auto& lags = *graph.weights().lag_ns;
  const auto visit = [&](TaskId task, DependencyKind kind, Point source, std::int64_t lag_ns) {
    if (source == no_point) return;
    if (kind == DependencyKind::launch) take_launch(task, source, lag_ns);
    if (kind == DependencyKind::hand_over) {
      hands_over_[index(task)] = true;
      hands_over_[index(task_of(source))] = true;
    }
  };
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    TaskId& tail = last[index(graph.lane_id(task))];
    previous_[i] = tail;
    if (tail == none<TaskId>) {
      first_[index(graph.lane_id(task))] = task;
    } else {
      next_[index(tail)] = task;
    }
    tail = task;
    for (const std::size_t slot : {cause_slot, extra_slot}) {
      visit(task, kind_of(topology.kinds[i][slot]), topology.sources[i][slot], lags[i][slot - 1]);
    }
  }
  for (std::size_t i = 0; i < topology.overflow.size(); ++i) {
    const OverflowDependency& dependency = topology.overflow[i];
    visit(dependency.task, dependency.kind, dependency.source,
          (*graph.weights().overflow_lag_ns)[i]);
  }

  for (const TaskId call : launcher_) {
    if (call != none<TaskId>) ++launched_offset_[index(call) + 1];
  }
  for (std::size_t i = 1; i < launched_offset_.size(); ++i) {
    launched_offset_[i] += launched_offset_[i - 1];
  }
  launched_.resize(launched_offset_.back());
  std::vector<std::uint32_t> at(launched_offset_.begin(), launched_offset_.end() - 1);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (launcher_[i] != none<TaskId>) launched_[at[index(launcher_[i])]++] = make_id<TaskId>(i);
  }
}

void GraphView::take_launch(TaskId task, Point source, std::int64_t lag_ns) {
  launcher_[index(task)] = task_of(source);
  launch_lag_[index(task)] = lag_ns;
}

std::span<const TaskId> GraphView::launched(TaskId call) const {
  const std::uint32_t first = launched_offset_[index(call)];
  return {launched_.data() + first, launched_offset_[index(call) + 1] - first};
}

std::int64_t GraphView::launch_lag(TaskId device_task) const {
  return launch_lag_[index(device_task)];
}

bool GraphView::is_plain_launch(TaskId task) const {
  return graph_.kind(task) == TaskKind::launch && graph_.work(task).part == TaskPart::whole;
}

bool GraphView::blocks(TaskId task) const {
  return graph_.kind(task) == TaskKind::synchronization ||
         (is_host(graph_.kind(task)) && graph_.work(task).part != TaskPart::whole);
}

std::int64_t GraphView::median_launch_ns() const {
  std::vector<std::int64_t> durations;
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (!is_plain_launch(task)) continue;
    const auto work = launched(task);
    if (work.size() == 1 && graph_.kind(work.front()) == TaskKind::kernel) {
      durations.push_back(graph_.duration_ns(task));
    }
  }
  return median(std::move(durations));
}

std::int64_t GraphView::median_launch_lag_ns() const {
  std::vector<std::int64_t> lags;
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph_.kind(task) == TaskKind::kernel && launcher_[i] != none<TaskId>) {
      lags.push_back(launch_lag_[i]);
    }
  }
  return median(std::move(lags));
}

std::int64_t median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace foretrace::detail
