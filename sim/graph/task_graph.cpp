// The immutable graph handle and the questions that need more than one column.
#include "sim/graph/task_graph.h"

#include <algorithm>
#include <utility>

#include "sim/core/result.h"

namespace foretrace {

namespace {

template <typename T>
SharedColumn<T> empty_column() {
  return std::make_shared<const std::vector<T>>();
}

std::shared_ptr<const Topology> empty_topology() {
  Topology topology;
  topology.forward_offsets.assign(1, 0);
  return std::make_shared<const Topology>(std::move(topology));
}

template <typename T>
std::size_t bytes_of(const std::vector<T>& values) {
  return values.size() * sizeof(T);
}

}  // namespace

double Topology::bytes_per_task() const {
  if (sources.empty()) return 0.0;
  const std::size_t bytes = bytes_of(sources) + bytes_of(kinds) + bytes_of(overflow) +
                            bytes_of(forward_offsets) + bytes_of(forward);
  return static_cast<double>(bytes) / static_cast<double>(sources.size());
}

TaskGraph::TaskGraph()
    : topology_(empty_topology()),
      columns_(std::make_shared<const TaskColumns>()),
      context_(std::make_shared<const GraphContext>()),
      weights_{empty_column<std::int64_t>(), empty_column<std::int64_t>(),
               empty_column<std::array<std::int32_t, 2>>(), empty_column<std::int64_t>()} {}

TaskGraph::TaskGraph(std::shared_ptr<const Topology> topology,
                     std::shared_ptr<const TaskColumns> columns,
                     std::shared_ptr<const GraphContext> context, Weights weights)
    : topology_(std::move(topology)),
      columns_(std::move(columns)),
      context_(std::move(context)),
      weights_(std::move(weights)) {
  const std::size_t tasks = topology_->sources.size();
  FORETRACE_CHECK(topology_->kinds.size() == tasks);
  FORETRACE_CHECK(topology_->forward_offsets.size() == tasks + 1);
  FORETRACE_CHECK(columns_->lane.size() == tasks);
  FORETRACE_CHECK(weights_.duration_ns->size() == tasks);
  FORETRACE_CHECK(weights_.segment_ns->size() == tasks);
  FORETRACE_CHECK(weights_.lag_ns->size() == tasks);
  FORETRACE_CHECK(weights_.overflow_lag_ns->size() == topology_->overflow.size());
}

TaskGraph TaskGraph::with_weights(Weights weights) const {
  return {topology_, columns_, context_, std::move(weights)};
}

TaskGraph TaskGraph::with_weights(Weights weights,
                                  std::shared_ptr<const TaskColumns> columns) const {
  return {topology_, std::move(columns), context_, std::move(weights)};
}

std::vector<Dependency> dependencies_of(const TaskGraph& graph, TaskId task) {
  const Topology& topology = graph.topology();
  const auto& sources = topology.sources[index(task)];
  const auto& kinds = topology.kinds[index(task)];
  const auto& lags = (*graph.weights().lag_ns)[index(task)];
  std::vector<Dependency> result;
  for (std::size_t slot = lane_slot; slot < overflow_slot; ++slot) {
    if (sources[slot] == no_point) continue;
    Dependency dependency;
    dependency.source = sources[slot];
    dependency.task = task;
    dependency.kind = kind_of(kinds[slot]);
    dependency.lag_ns = slot == lane_slot ? graph.segment_ns(task) : lags[slot - 1];
    result.push_back(dependency);
  }
  const auto& overflow = topology.overflow;
  auto row = std::lower_bound(
      overflow.begin(), overflow.end(), task,
      [](const OverflowDependency& left, TaskId right) { return left.task < right; });
  for (; row != overflow.end() && row->task == task; ++row) {
    const auto position = static_cast<std::size_t>(row - overflow.begin());
    Dependency dependency;
    dependency.source = row->source;
    dependency.task = task;
    dependency.kind = row->kind;
    dependency.lag_ns = (*graph.weights().overflow_lag_ns)[position];
    dependency.fraction = row->fraction;
    dependency.late_after = row->late_after;
    result.push_back(dependency);
  }
  return result;
}

}  // namespace foretrace
