#include "sim/engine/memory_budget.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace foretrace::detail {
namespace {

struct Action {
  TaskId task{};
  std::uint32_t budget = 0;
  std::int64_t before_ns = 0;
  std::uint32_t sequence = 0;
  std::int64_t bytes = 0;
  NameId operator_name{};
};

}  // namespace

BudgetState::BudgetState(const TaskGraph& graph, std::span<const MemoryBudget> budgets)
    : graph_(&graph), budgets_(budgets.begin(), budgets.end()), live_(budgets.size(), 0) {
  std::vector<Action> actions;
  for (const Tensor& tensor : graph.context().tensors) {
    const TaskId touched =
        tensor.allocated_in != none<TaskId> ? tensor.allocated_in : tensor.freed_in;
    for (std::uint32_t b = 0; b < budgets_.size(); ++b) {
      const bool same_rank = touched == none<TaskId>
                                 ? tensor.rank < 0 || tensor.rank == budgets_[b].rank
                                 : graph.lane(touched).rank == budgets_[b].rank;
      if (!same_rank || tensor.device != budgets_[b].device) continue;
      if (tensor.allocated_in == none<TaskId>) {
        live_[b] += tensor.bytes;
      } else {
        actions.push_back({tensor.allocated_in, b, tensor.allocated_offset_ns,
                           tensor.allocated_sequence, tensor.bytes, tensor.operator_name});
      }
      if (tensor.freed_in != none<TaskId>) {
        actions.push_back({tensor.freed_in, b, tensor.freed_offset_ns, tensor.freed_sequence,
                           -tensor.bytes, tensor.operator_name});
      }
    }
  }
  std::stable_sort(actions.begin(), actions.end(), [](const Action& a, const Action& b) {
    return std::make_tuple(a.task, a.budget, -a.before_ns, a.sequence) <
           std::make_tuple(b.task, b.budget, -b.before_ns, b.sequence);
  });
  for (const Action& action : actions) {
    if (steps_.empty() || steps_.back().task != action.task ||
        steps_.back().budget != action.budget) {
      steps_.push_back({.task = action.task, .budget = action.budget});
    }
    Step& step = steps_.back();
    step.net += action.bytes;
    if (step.net > step.most) {
      step.most = step.net;
      step.operator_name = action.operator_name;
    }
  }
}

std::span<const BudgetState::Step> BudgetState::steps_of(TaskId task) const {
  const auto first = std::partition_point(steps_.begin(), steps_.end(),
                                          [task](const Step& s) { return s.task < task; });
  auto last = first;
  while (last != steps_.end() && last->task == task) ++last;
  return {first, last};
}

std::int64_t BudgetState::missing(TaskId task, std::size_t& budget) const {
  std::int64_t most = 0;
  for (const Step& step : steps_of(task)) {
    const std::int64_t over = live_[step.budget] + step.most - budgets_[step.budget].bytes;
    // What only frees never waits, however full the device is.
    if (step.most > 0 && over > most) {
      most = over;
      budget = step.budget;
    }
  }
  return most;
}

bool BudgetState::apply(TaskId task) {
  bool frees = false;
  for (const Step& step : steps_of(task)) {
    live_[step.budget] += step.net;
    frees = frees || step.net < 0;
  }
  return frees;
}

void BudgetState::release(std::size_t budget, std::int64_t bytes) { live_[budget] -= bytes; }

MemoryPressure BudgetState::pressure(TaskId task, std::size_t budget,
                                     std::int64_t missing_bytes) const {
  const MemoryBudget& limit = budgets_[budget];
  return {task, limit.rank, limit.device, missing_bytes, live_[budget], limit.bytes};
}

std::string BudgetState::describe(TaskId task) const {
  std::size_t budget = 0;
  const std::int64_t lacking = missing(task, budget);
  std::string_view owner;
  for (const Step& step : steps_of(task)) {
    if (step.budget == budget) owner = graph_->names()[step.operator_name];
  }
  return fmt::format(
      "device {} of rank {}: out of memory: {} before task {} needs {} bytes more than there are, "
      "got {} of {} allocated",
      budgets_[budget].device, budgets_[budget].rank,
      owner.empty() ? std::string("the host") : fmt::format("'{}'", owner), index(task), lacking,
      live_[budget], budgets_[budget].bytes);
}

}  // namespace foretrace::detail
