// Builds a TaskGraph from tasks in program order, explicit dependencies and symbolic waits.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// One task as the builder takes it.
struct TaskSpec {
  LaneId lane{};
  WorkId work{};
  TaskKind kind = TaskKind::host;
  std::int64_t duration_ns = 0;
  std::int64_t segment_ns = 0;  ///< host time before it on its thread; device: gap after the
                                ///< stream's previous operation
  Phase phase = Phase::unknown;
  LayerId layer{};
  std::int32_t step = -1;
  Provenance provenance = Provenance::measured;
};

/// Tasks are added in program order: host tasks by the time of their call, device tasks right after
/// the call that enqueues them. The order of a lane is the order in which its tasks were added.
/// build() re-sorts only if an explicit dependency points forward, and fails on a cycle.
class GraphBuilder {
 public:
  GraphBuilder();

  LaneId add_lane(Lane lane);
  WorkId add_work(const Work& work);  ///< interned: equal works share an id
  LayerId add_layer(std::string_view name, LayerId parent = none<LayerId>);
  NameId add_name(std::string_view text) { return context_.names.intern(text); }
  TaskId add_task(const TaskSpec& task);
  void add_dependency(const Dependency& dependency) { dependencies_.push_back(dependency); }
  void add_wait(const Wait& wait) { context_.waits.push_back(wait); }
  void add_step(const Step& step) { context_.steps.push_back(step); }
  void add_segment_part(const SegmentPart& part) { context_.segment_parts.push_back(part); }
  void add_tensor(const Tensor& tensor) { context_.tensors.push_back(tensor); }
  void add_device(DeviceInfo device) { context_.devices.push_back(std::move(device)); }
  void add_rank_class(RankClass rank_class) { context_.rank_classes.push_back(rank_class); }
  void add_stall(const Stall& stall) { context_.stalls.push_back(stall); }
  std::uint32_t add_communicator(Communicator communicator);
  void add_demand(const Demand& demand) { context_.demands.push_back(demand); }
  std::uint32_t add_capacity(Capacity capacity);

  [[nodiscard]] std::size_t size() const { return columns_.lane.size(); }
  [[nodiscard]] GraphContext& context() { return context_; }
  [[nodiscard]] TaskColumns& columns() { return columns_; }
  [[nodiscard]] std::vector<std::int64_t>& durations() { return duration_ns_; }
  [[nodiscard]] std::vector<std::int64_t>& segments() { return segment_ns_; }
  [[nodiscard]] const std::vector<Dependency>& dependencies() const { return dependencies_; }

  /// Takes over all columns of a graph at once (structural changes start from here).
  void assign(GraphContext context, TaskColumns columns, std::vector<std::int64_t> duration_ns,
              std::vector<std::int64_t> segment_ns, std::vector<Dependency> dependencies);

  /// What build() calls a task in a cycle. Tasks with an empty name are left out.
  void name_tasks_by(std::function<std::string(TaskId)> name) { task_name_ = std::move(name); }

  /// Resolves lane order, waits and queues, assigns slots. The builder is empty afterwards.
  /// Errors: ids out of range, negative durations, a cycle (named by its tasks).
  [[nodiscard]] Result<TaskGraph> build() &&;
  /// As build(), and tells where each added task went: new_id[old id].
  [[nodiscard]] Result<TaskGraph> build(std::vector<TaskId>& new_id) &&;

 private:
  GraphContext context_;
  TaskColumns columns_;
  std::vector<std::int64_t> duration_ns_;
  std::vector<std::int64_t> segment_ns_;
  std::vector<Dependency> dependencies_;
  std::unordered_multimap<std::uint64_t, WorkId> work_index_;
  std::function<std::string(TaskId)> task_name_;
};

}  // namespace foretrace
