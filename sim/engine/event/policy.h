// What a run-time policy sees and may do: choose among ready tasks, append tasks, add dependencies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/core/result.h"
#include "sim/engine/memory/memory_budget.h"
#include "sim/graph/graph_builder.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// A task that could start on its lane now.
struct ReadyTask {
  TaskId task{};
  std::int32_t priority = 0;  ///< smaller goes first on lanes with LanePolicy::priority
  std::int64_t ready_ns = 0;
  std::uint32_t sequence = 0;  ///< order of arrival among equal times
};

/// A task that a policy adds while the graph runs.
struct AppendedTask {
  TaskSpec task;
  std::span<const Dependency> dependencies;  ///< into this task; their `task` is not read
  std::span<const Demand> demands;           ///< of this task; their `task` is not read
  /// Not none: it goes directly before this task of its lane, which has not started, and after what
  /// was put there earlier. None: behind the last task of its lane.
  TaskId before = none<TaskId>;
};

/// The running simulation, as a policy sees it.
class Simulation {
 public:
  Simulation() = default;
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;
  Simulation(Simulation&&) = delete;
  Simulation& operator=(Simulation&&) = delete;
  virtual ~Simulation() = default;

  [[nodiscard]] virtual const TaskGraph& graph() const = 0;
  [[nodiscard]] virtual std::int64_t now_ns() const = 0;
  [[nodiscard]] virtual bool has_started(TaskId task) const = 0;
  [[nodiscard]] virtual bool has_ended(TaskId task) const = 0;
  /// At its place where the lane keeps program order, never before now. Ids follow the graph's.
  /// Errors: ids out of range, negative durations, a place that has passed.
  [[nodiscard]] virtual Result<TaskId> append(const AppendedTask& appended) = 0;
  /// Holds back a task that has not started. Errors: it has, or ids out of range.
  [[nodiscard]] virtual Status add_dependency(const Dependency& dependency) = 0;

  /// True if a memory budget counts the tensor and it is on the device.
  [[nodiscard]] virtual bool is_resident(TensorId tensor) const = 0;
  /// Takes a resident tensor off its device; when the program frees it, nothing is left to free.
  virtual void evict(TensorId tensor) = 0;
  /// Brings back a tensor that was evicted or freed. False if the budget has no room for it.
  [[nodiscard]] virtual bool restore(TensorId tensor) = 0;
  /// Bytes that the budget of this tensor has left; the largest number if it has none.
  [[nodiscard]] virtual std::int64_t room_bytes(TensorId tensor) const = 0;
  /// That budget.
  [[nodiscard]] virtual std::int64_t budget_bytes(TensorId tensor) const = 0;
};

/// Called by the event-driven engine; the default does what the lanes say.
class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  Policy(Policy&&) = delete;
  Policy& operator=(Policy&&) = delete;
  virtual ~Policy() = default;

  /// Which of the ready tasks of a free lane goes next, as index into `ready`, which is in the
  /// order that the lane's own policy would take. Not asked on lanes that keep program order.
  [[nodiscard]] virtual std::size_t choose(LaneId /*lane*/, std::span<const ReadyTask> /*ready*/,
                                           Simulation& /*simulation*/) {
    return 0;
  }
  /// Under memory budgets: a task of the graph could start now. The policy may put tasks before it
  /// or hold it back by dependencies, and is then asked again. False: not before memory is freed.
  [[nodiscard]] virtual bool may_start(TaskId /*task*/, Simulation& /*simulation*/) { return true; }
  /// A host task does not fit the memory budget of its device. The policy may evict tensors, append
  /// tasks and hold the task back; what is still missing then blocks or fails.
  virtual void make_room(const MemoryPressure& /*pressure*/, Simulation& /*simulation*/) {}
  virtual void on_start(TaskId /*task*/, Simulation& /*simulation*/) {}
  virtual void on_end(TaskId /*task*/, Simulation& /*simulation*/) {}
};

}  // namespace foretrace
