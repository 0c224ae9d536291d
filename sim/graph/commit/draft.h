// A graph before its slots are assigned, and the steps that turn it into a topology.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace::committing {

[[nodiscard]] inline Error bad(std::string message) {
  return Error{ErrorCode::bad_usage, std::move(message)};
}

/// Explicit dependencies that have their slots already; lane slots are empty. Columns per task.
struct Slots {
  std::vector<std::array<Point, 3>> sources;
  std::vector<std::array<std::uint8_t, 3>> kinds;
  std::vector<std::array<std::int32_t, 2>> lag_ns;
  explicit Slots(std::size_t tasks = 0)
      : sources(tasks, {no_point, no_point, no_point}), kinds(tasks), lag_ns(tasks) {}
};

/// Tasks in program order with their explicit dependencies; what GraphBuilder collects.
struct Draft {
  GraphContext context;
  TaskColumns columns;
  std::vector<std::int64_t> duration_ns;
  std::vector<std::int64_t> segment_ns;
  Slots slots;                                   ///< empty, or one row per task
  std::vector<Dependency> dependencies;          ///< besides those in slots
  std::function<std::string(TaskId)> name = {};  ///< of tasks in a cycle; none: see describe()

  [[nodiscard]] std::size_t size() const { return columns.lane.size(); }
};

/// Calls visit(task, source, late_after, kind) for every explicit dependency.
template <typename Visit>
void for_each_dependency(const Draft& draft, const Visit& visit) {
  for (std::size_t t = 0; t < draft.slots.sources.size(); ++t) {
    for (std::size_t slot = cause_slot; slot <= extra_slot; ++slot) {
      const Point source = draft.slots.sources[t][slot];
      if (source == no_point) continue;
      visit(make_id<TaskId>(t), source, no_point, kind_of(draft.slots.kinds[t][slot]));
    }
  }
  for (const Dependency& d : draft.dependencies) visit(d.task, d.source, d.late_after, d.kind);
}

/// Largest number of tasks: a forward entry is task << 2 | slot in 32 bits.
inline constexpr std::size_t max_tasks = (std::size_t{1} << 30) - 1;
/// Largest sum of all durations, segments and lags (ns), so that no engine overflows 64 bits.
inline constexpr double max_total_ns = 4.0e18;

/// "kernel 'gemm' (task 12)".
[[nodiscard]] std::string describe(const GraphContext& context, const TaskColumns& columns,
                                   TaskId task);

/// The parts of a draft or of a graph that are checked alike.
struct Parts {
  const GraphContext& context;
  const TaskColumns& columns;
  const std::vector<std::int64_t>& duration_ns;
  const std::vector<std::int64_t>& segment_ns;
  std::span<const Dependency> dependencies;
  [[nodiscard]] std::size_t size() const { return columns.lane.size(); }
};

/// Column sizes, ids in range, weights that are negative or too large.
[[nodiscard]] Status check(const Parts& parts);
/// The error of a dependency or wait of kind `queue` that somebody states: full queues are counted
/// from the depth of their lane, anew with every rebuild, and a stated one would be lost.
[[nodiscard]] Error stated_queue(const std::string& task);
/// The last of these only: what new weights can break.
[[nodiscard]] Status check_weights(const Parts& parts);

/// New id per task of the order that keeps program order wherever the dependencies allow it: a
/// task that an earlier one depends on moves in front of it. Empty if nothing points forward.
[[nodiscard]] Result<std::vector<TaskId>> topological_ids(const Draft& draft);

/// Gives every task, and everything that names a task, its new id.
void renumber(Draft& draft, const std::vector<TaskId>& new_id);

/// Per task: the host task that enqueued it (its dependency of kind launch), or none.
[[nodiscard]] std::vector<TaskId> launches(const Draft& draft);

/// What every Wait means now, as dependencies in the order of the waits.
[[nodiscard]] std::vector<Dependency> resolve_waits(const Draft& draft);

/// A launch that must not begin before the start of a task that leaves its queue.
struct QueueLimit {
  TaskId leaving{};
  TaskId launch{};
};
/// What full launch queues mean now: start of entry k - depth before the launch of entry k.
[[nodiscard]] std::vector<QueueLimit> resolve_queues(const Draft& draft,
                                                     const std::vector<TaskId>& launch_of);

/// False if a stream takes launches from two host lanes that no dependency puts into an order.
[[nodiscard]] bool launch_order_is_fixed(const Draft& draft, const std::vector<TaskId>& launch_of);

}  // namespace foretrace::committing
