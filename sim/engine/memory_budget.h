// A limit on the memory of a device, and what is allocated of it while the event engine runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/graph/task_graph.h"

namespace foretrace {

/// What happens to a host task whose allocations do not fit.
enum class WhenFull : std::uint8_t {
  block,  ///< it waits until others free enough; a run in which nobody can is an error
  fail,   ///< the run ends with an error
};

struct MemoryBudget {
  std::int32_t rank = 0;
  std::int32_t device = 0;
  std::int64_t bytes = 0;
  WhenFull when_full = WhenFull::fail;
};

/// A task that cannot go on without more memory.
struct MemoryPressure {
  TaskId task{};
  std::int32_t rank = 0;
  std::int32_t device = 0;
  std::int64_t missing_bytes = 0;
  std::int64_t live_bytes = 0;
  std::int64_t budget_bytes = 0;
};

namespace detail {

/// Live bytes per budget. Allocations of the host time before a task count when the task starts.
class BudgetState {
 public:
  BudgetState() = default;
  BudgetState(const TaskGraph& graph, std::span<const MemoryBudget> budgets);

  [[nodiscard]] bool is_active() const { return !budgets_.empty(); }
  /// Missing bytes of the tightest budget; 0 if the task's allocations fit.
  [[nodiscard]] std::int64_t missing(TaskId task, std::size_t& budget) const;
  /// The task goes on. True if it leaves less allocated than it found.
  bool apply(TaskId task);
  /// Somebody made room.
  void release(std::size_t budget, std::int64_t bytes);
  [[nodiscard]] MemoryPressure pressure(TaskId task, std::size_t budget,
                                        std::int64_t missing_bytes) const;
  [[nodiscard]] WhenFull when_full(std::size_t budget) const { return budgets_[budget].when_full; }
  /// One line on what does not fit.
  [[nodiscard]] std::string describe(TaskId task) const;

 private:
  /// What a task adds to a budget: at most, and in the end.
  struct Step {
    TaskId task{};
    std::uint32_t budget = 0;
    std::int64_t most = 0;
    std::int64_t net = 0;
    NameId operator_name{};  ///< of the request that needs most
  };
  [[nodiscard]] std::span<const Step> steps_of(TaskId task) const;

  const TaskGraph* graph_ = nullptr;
  std::vector<MemoryBudget> budgets_;
  std::vector<std::int64_t> live_;
  std::vector<Step> steps_;  // by task
};

}  // namespace detail

}  // namespace foretrace
