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
  NameId operator_name{};  ///< of the request that needs most
  LayerId layer{};
};

enum class BudgetAction : std::uint8_t {
  allocated,
  freed,
  evicted,   ///< by a policy, before the program frees it
  restored,  ///< by a policy, after it was evicted or freed
};

/// Something comes or goes; live bytes from here on.
struct BudgetPoint {
  std::int64_t time_ns = 0;
  std::int64_t live_bytes = 0;
  TensorId tensor{};
  BudgetAction action = BudgetAction::allocated;
};

/// What was allocated under a budget, in the order of the simulated host.
struct MemoryUse {
  std::int32_t rank = 0;
  std::int32_t device = 0;
  std::int64_t base_bytes = 0;  ///< before the window
  std::int64_t peak_bytes = 0;
  TaskId peak_task = none<TaskId>;    ///< whose allocations reach the peak; none: the base
  std::vector<BudgetPoint> points{};  ///< as they happened; times never go back
};

namespace engine {

/// Live bytes per budget. What is allocated and freed in the host time before a task counts when
/// the task starts.
class BudgetState {
 public:
  BudgetState() = default;
  BudgetState(const TaskGraph& graph, std::span<const MemoryBudget> budgets);

  [[nodiscard]] bool is_active() const { return !budgets_.empty(); }
  /// Missing bytes of the tightest budget; 0 if the task's allocations fit.
  [[nodiscard]] std::int64_t missing(TaskId task, std::size_t& budget) const;
  /// The task goes on. True if it leaves less allocated than it found.
  bool apply(TaskId task, std::int64_t now_ns);
  [[nodiscard]] MemoryPressure pressure(TaskId task, std::size_t budget,
                                        std::int64_t missing_bytes) const;
  [[nodiscard]] WhenFull when_full(std::size_t budget) const { return budgets_[budget].when_full; }
  /// One line on what does not fit.
  [[nodiscard]] std::string describe(TaskId task) const;

  /// False for tensors that no budget counts.
  [[nodiscard]] bool is_resident(TensorId tensor) const;
  /// A resident tensor goes, one that has gone comes back.
  void evict(TensorId tensor, std::int64_t now_ns);
  void restore(TensorId tensor, std::int64_t now_ns);
  /// What the tensor's budget has left.
  [[nodiscard]] std::int64_t room_bytes(TensorId tensor) const;
  [[nodiscard]] std::int64_t budget_bytes(TensorId tensor) const;
  [[nodiscard]] const std::vector<MemoryUse>& uses() const { return uses_; }

 private:
  /// Doomed: freed before it came, by a thread that no dependency orders; it will go at once.
  enum class Residence : std::uint8_t { unborn, doomed, resident, gone };
  /// A tensor comes or goes in the host time before a task.
  struct Action {
    TaskId task{};
    std::uint32_t budget = 0;
    TensorId tensor{};
    bool allocates = false;
    std::int64_t before_ns = 0;
    std::uint32_t sequence = 0;
  };
  static constexpr std::uint32_t no_budget = UINT32_MAX;

  void add_tensor(std::size_t number);
  [[nodiscard]] std::uint32_t budget_of(const Tensor& tensor) const;
  [[nodiscard]] std::span<const Action> actions_of(TaskId task) const;
  [[nodiscard]] std::int64_t bytes_of(TensorId tensor) const;
  /// The most that a task's actions add to a budget; `by` is the request that reaches it.
  [[nodiscard]] std::int64_t most_of(std::span<const Action> actions, std::uint32_t budget,
                                     TensorId& by) const;
  /// What happens to this tensor now; `task` asked for it.
  void count(TensorId tensor, BudgetAction action, std::int64_t now_ns, TaskId task);

  const TaskGraph* graph_ = nullptr;
  std::vector<MemoryBudget> budgets_;
  std::vector<std::int64_t> live_;
  std::vector<MemoryUse> uses_;
  std::vector<Action> actions_;        // by task, in the order of the allocator
  std::vector<std::uint32_t> budget_;  // per tensor
  std::vector<Residence> residence_;   // per tensor
};

}  // namespace engine

}  // namespace foretrace
