// The immutable graph handle and the questions that need more than one column.
#include "sim/graph/task_graph.h"

#include <numeric>
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
                            bytes_of(overflow_blocks) + bytes_of(forward_offsets) +
                            bytes_of(forward);
  return static_cast<double>(bytes) / static_cast<double>(sources.size());
}

std::int32_t TaskGraph::rank_of(const Tensor& tensor) const {
  const TaskId touched =
      tensor.allocated_in != none<TaskId> ? tensor.allocated_in : tensor.freed_in;
  if (touched != none<TaskId>) return lane(touched).rank;
  if (tensor.rank >= 0) return tensor.rank;
  for (const DeviceInfo& device : context().devices) {
    if (device.device == tensor.device) return device.rank;
  }
  const auto& classes = context().rank_classes;
  return classes.empty() ? 0 : classes.front().first_rank;
}

void Topology::index_overflow() {
  overflow_blocks.clear();
  if (overflow.empty()) return;
  overflow_blocks.assign((sources.size() + block_size - 1) / block_size + 1, 0);
  for (const OverflowDependency& row : overflow)
    ++overflow_blocks[index(row.task) / block_size + 1];
  std::partial_sum(overflow_blocks.begin(), overflow_blocks.end(), overflow_blocks.begin());
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
  FORETRACE_CHECK(topology_->overflow_blocks.empty() == topology_->overflow.empty());
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

}  // namespace foretrace
