// The task graph: immutable columns, dependencies as points in slots, weights apart from topology.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/core/ids.h"
#include "sim/core/name_table.h"
#include "sim/graph/parameters.h"
#include "sim/graph/task.h"

namespace foretrace {

/// Slots of a task. start = max(T[lane] + segment, T[cause] + lag[0], T[extra] + lag[1], overflow).
/// A task without a lane source starts its segment at time 0.
enum Slot : std::uint8_t { lane_slot = 0, cause_slot = 1, extra_slot = 2, overflow_slot = 3 };

/// What does not fit three slots: fan-in above three, 64-bit lags, fractions, conditional lags.
struct OverflowDependency {
  TaskId task{};
  Point source = no_point;
  Point late_after = no_point;  ///< not none: counts only if T[source] > T[late_after]
  float fraction = 0;           ///< + fraction * duration(task_of(source))
  DependencyKind kind = DependencyKind::none;
  bool symbolic = false;  ///< resolved from a Wait or a queue; recomputed by a structural change
};

/// Who waits for whom. Shared by all graphs that differ in weights only.
struct Topology {
  std::vector<std::array<Point, 3>> sources;       ///< per task; no_point = empty
  std::vector<std::array<std::uint8_t, 3>> kinds;  ///< DependencyKind, | symbolic_bit
  std::vector<OverflowDependency> overflow;        ///< sorted by task
  std::vector<std::uint32_t> overflow_blocks;      ///< first row of every 16 tasks, and the end
  std::vector<std::uint32_t> forward_offsets;      ///< size tasks + 1
  std::vector<std::uint32_t> forward;              ///< successor task << 2 | Slot
  /// True where launch order per stream is the recorded one and cannot change with timing.
  bool launch_order_fixed = true;

  static constexpr std::uint8_t symbolic_bit = 0x80;
  [[nodiscard]] std::size_t task_count() const { return sources.size(); }
  [[nodiscard]] std::size_t dependency_count() const { return forward.size(); }
  /// The overflow dependencies of a task.
  [[nodiscard]] std::span<const OverflowDependency> overflow_of(TaskId task) const {
    if (overflow_blocks.empty()) return {};
    const std::size_t block = index(task) / block_size;
    const std::span<const OverflowDependency> rows(overflow.data() + overflow_blocks[block],
                                                   overflow.data() + overflow_blocks[block + 1]);
    // A task may wait for thousands, and every row is looked up by itself.
    const auto first = std::partition_point(
        rows.begin(), rows.end(), [&](const OverflowDependency& row) { return row.task < task; });
    const auto last = std::partition_point(
        first, rows.end(), [&](const OverflowDependency& row) { return row.task == task; });
    return {first, last};
  }
  /// Fills overflow_blocks; to be called once `sources` and `overflow` are complete.
  void index_overflow();
  /// Tasks that share an entry of overflow_blocks: an entry per task would cost more than it gives.
  static constexpr std::size_t block_size = 16;
  /// Bytes of forward CSR, points, kinds and overflow per task.
  [[nodiscard]] double bytes_per_task() const;
};
[[nodiscard]] constexpr DependencyKind kind_of(std::uint8_t stored) {
  return static_cast<DependencyKind>(stored & 0x7FU);
}
[[nodiscard]] constexpr bool is_symbolic(std::uint8_t stored) {
  return (stored & Topology::symbolic_bit) != 0;
}

template <typename T>
using SharedColumn = std::shared_ptr<const std::vector<T>>;

/// Everything in ns that an engine adds up. Copy-on-write by column.
struct Weights {
  SharedColumn<std::int64_t> duration_ns;  ///< per task
  SharedColumn<std::int64_t> segment_ns;   ///< per task: host time (or device gap) before it
  SharedColumn<std::array<std::int32_t, 2>> lag_ns;  ///< per task: cause slot, extra slot
  SharedColumn<std::int64_t> overflow_lag_ns;        ///< per overflow dependency
};

/// What a task is, apart from its time.
struct TaskColumns {
  std::vector<LaneId> lane;
  std::vector<WorkId> work;
  std::vector<TaskKind> kind;
  std::vector<Phase> phase;
  std::vector<LayerId> layer;
  std::vector<std::int32_t> step;  ///< index of TaskGraph::steps(); -1: outside every step
  std::vector<Provenance> provenance;
};

/// One iteration of the training loop of one rank.
struct Step {
  std::int32_t rank = 0;
  std::int64_t number = 0;  ///< as recorded (ProfilerStep#N)
  TaskId begin{};           ///< mark at its start
  TaskId end{};             ///< mark at its end
};

struct DeviceInfo {
  std::int32_t rank = 0;
  std::int32_t device = 0;
  std::string name;  ///< as recorded; may be empty
  std::int32_t multiprocessors = 0;
  std::int64_t memory_bytes = 0;
  std::int32_t max_threads_per_multiprocessor = 0;
  std::int32_t registers_per_multiprocessor = 0;
  std::int64_t shared_memory_per_multiprocessor = 0;
  std::int32_t compute_major = 0;
  std::int32_t compute_minor = 0;
};

/// What stays the same under every change of weights.
struct GraphContext {
  std::vector<Lane> lanes;
  std::vector<Work> works;
  std::vector<Layer> layers;  ///< [0] is "no layer"
  std::vector<RankClass> rank_classes;
  std::vector<DeviceInfo> devices;
  std::vector<Step> steps;                 ///< sorted by (rank, begin)
  std::vector<Wait> waits;                 ///< sorted by (at, insertion)
  std::vector<SegmentPart> segment_parts;  ///< sorted by task
  std::vector<Tensor> tensors;
  std::vector<Capacity> capacities;
  std::vector<Demand> demands;           ///< sorted by task
  std::vector<TaskPriority> priorities;  ///< sorted by task
  std::vector<Communicator> communicators;
  std::vector<Stall> stalls;  ///< sorted by task; only graphs of several ranks know any
  /// Null: nobody has looked for them. Then they follow from the graph as it is.
  std::shared_ptr<const ParameterTable> parameters;
  NameTable names;
};

/// A cheap handle to shared, immutable parts. Task ids are topological and near time order.
class TaskGraph {
 public:
  TaskGraph();
  TaskGraph(std::shared_ptr<const Topology> topology, std::shared_ptr<const TaskColumns> columns,
            std::shared_ptr<const GraphContext> context, Weights weights);

  [[nodiscard]] std::size_t size() const { return topology_->sources.size(); }
  [[nodiscard]] const Topology& topology() const { return *topology_; }
  [[nodiscard]] const TaskColumns& columns() const { return *columns_; }
  [[nodiscard]] const GraphContext& context() const { return *context_; }
  [[nodiscard]] const Weights& weights() const { return weights_; }

  [[nodiscard]] std::int64_t duration_ns(TaskId t) const {
    return (*weights_.duration_ns)[index(t)];
  }
  [[nodiscard]] std::int64_t segment_ns(TaskId t) const { return (*weights_.segment_ns)[index(t)]; }
  [[nodiscard]] TaskKind kind(TaskId t) const { return columns_->kind[index(t)]; }
  [[nodiscard]] Phase phase(TaskId t) const { return columns_->phase[index(t)]; }
  [[nodiscard]] LayerId layer(TaskId t) const { return columns_->layer[index(t)]; }
  [[nodiscard]] std::int32_t step(TaskId t) const { return columns_->step[index(t)]; }
  [[nodiscard]] Provenance provenance(TaskId t) const { return columns_->provenance[index(t)]; }
  [[nodiscard]] LaneId lane_id(TaskId t) const { return columns_->lane[index(t)]; }
  [[nodiscard]] const Lane& lane(TaskId t) const { return context_->lanes[index(lane_id(t))]; }
  /// Whose memory a tensor is in: what nothing in the window touches belongs to the first rank that
  /// has its device.
  [[nodiscard]] std::int32_t rank_of(const Tensor& tensor) const;
  [[nodiscard]] WorkId work_id(TaskId t) const { return columns_->work[index(t)]; }
  [[nodiscard]] const Work& work(TaskId t) const { return context_->works[index(work_id(t))]; }
  [[nodiscard]] std::string_view name(TaskId t) const { return context_->names[work(t).name]; }
  [[nodiscard]] const NameTable& names() const { return context_->names; }

  /// The same graph with other weights (and, if given, other task columns such as provenance).
  [[nodiscard]] TaskGraph with_weights(Weights weights) const;
  [[nodiscard]] TaskGraph with_weights(Weights weights,
                                       std::shared_ptr<const TaskColumns> columns) const;

  /// The shared parts, for those who build the next graph from this one.
  [[nodiscard]] const std::shared_ptr<const Topology>& shared_topology() const { return topology_; }
  [[nodiscard]] const std::shared_ptr<const TaskColumns>& shared_columns() const {
    return columns_;
  }
  [[nodiscard]] const std::shared_ptr<const GraphContext>& shared_context() const {
    return context_;
  }

 private:
  std::shared_ptr<const Topology> topology_;
  std::shared_ptr<const TaskColumns> columns_;
  std::shared_ptr<const GraphContext> context_;
  Weights weights_;
};

}  // namespace foretrace
