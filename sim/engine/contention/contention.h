// Tasks that share capacities: who runs how fast, and when each will end.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/core/result.h"
#include "sim/engine/contention/max_min.h"
#include "sim/graph/task_graph.h"

namespace foretrace::engine {

/// Running tasks with demands. Rates change only where a task of the same component (tasks linked
/// by capacities) begins or ends.
class Contention {
 public:
  explicit Contention(const GraphContext& context);

  [[nodiscard]] bool has_demands(TaskId task) const;
  void add_demands(TaskId task, std::span<const Demand> demands);

  /// The task begins to work off its duration, at full rate if nothing else is said.
  void begin(TaskId task, std::int64_t now_ns, std::int64_t duration_ns);
  void finish(TaskId task, std::int64_t now_ns);
  /// When a running task ends if nothing changes, -1 before the first settle().
  [[nodiscard]] std::int64_t end_ns(TaskId task) const;

  [[nodiscard]] bool is_dirty() const { return !dirty_.empty(); }
  /// Shares anew what changed since the last call; `moved` gets the tasks whose end moved.
  /// Error: a task that no rate above 0 is left for.
  [[nodiscard]] Status settle(std::int64_t now_ns, std::vector<TaskId>& moved);

  [[nodiscard]] const std::vector<double>& use() const { return use_; }
  [[nodiscard]] const std::vector<std::int64_t>& full_ns() const { return full_ns_; }

 private:
  struct Running {
    TaskId task{};
    double left_ns = 0;  ///< duration not yet worked off at `since_ns`
    double rate = 0;
    std::int64_t since_ns = 0;
    std::int64_t end_ns = -1;
    std::vector<FlowUse> uses;
  };
  void account(Running& running, std::int64_t now_ns);
  void gather_component(std::uint32_t capacity);
  [[nodiscard]] Status share_component(std::int64_t now_ns, std::vector<TaskId>& moved);
  void note_fullness(std::int64_t now_ns);

  const GraphContext& context_;
  std::vector<Demand> appended_;  ///< sorted by task: appended tasks have rising ids
  std::vector<Running> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::unordered_map<std::uint32_t, std::uint32_t> slot_of_;  ///< looked up, never iterated
  std::vector<std::vector<std::uint32_t>> on_capacity_;       ///< slots per capacity
  std::vector<std::uint32_t> dirty_;                          ///< capacities
  std::vector<std::uint8_t> is_gathered_;                     ///< per capacity
  std::vector<std::uint32_t> capacities_;                     ///< of the component
  std::vector<std::uint32_t> members_;                        ///< slots of the component
  std::vector<std::uint32_t> local_;                          ///< per capacity: index in the solver
  MaxMin solver_;
  std::vector<double> use_;
  std::vector<std::int64_t> full_ns_;
  std::vector<std::int64_t> full_since_ns_;  ///< -1: not full
};

}  // namespace foretrace::engine
