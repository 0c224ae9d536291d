#include "sim/engine/memory/memory_budget.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "sim/core/result.h"

namespace foretrace::engine {

BudgetState::BudgetState(const TaskGraph& graph, std::span<const MemoryBudget> budgets)
    : graph_(&graph), budgets_(budgets.begin(), budgets.end()), live_(budgets.size(), 0) {
  if (budgets_.empty()) return;
  const std::size_t tensors = graph.context().tensors.size();
  budget_.assign(tensors, no_budget);
  residence_.assign(tensors, Residence::unborn);
  for (std::size_t i = 0; i < tensors; ++i) add_tensor(i);
  std::stable_sort(actions_.begin(), actions_.end(), [](const Action& a, const Action& b) {
    return std::make_tuple(a.task, -a.before_ns, a.sequence) <
           std::make_tuple(b.task, -b.before_ns, b.sequence);
  });
  for (std::size_t b = 0; b < budgets_.size(); ++b) {
    uses_.push_back({.rank = budgets_[b].rank,
                     .device = budgets_[b].device,
                     .base_bytes = live_[b],
                     .peak_bytes = live_[b]});
  }
}

std::uint32_t BudgetState::budget_of(const Tensor& tensor) const {
  const TaskId touched =
      tensor.allocated_in != none<TaskId> ? tensor.allocated_in : tensor.freed_in;
  for (std::uint32_t b = 0; b < budgets_.size(); ++b) {
    const bool same_rank = touched == none<TaskId>
                               ? tensor.rank < 0 || tensor.rank == budgets_[b].rank
                               : graph_->lane(touched).rank == budgets_[b].rank;
    if (same_rank && tensor.device == budgets_[b].device) return b;
  }
  return no_budget;
}

void BudgetState::add_tensor(std::size_t number) {
  const Tensor& tensor = graph_->context().tensors[number];
  const std::uint32_t budget = budget_of(tensor);
  if (budget == no_budget || tensor.bytes == 0) return;
  budget_[number] = budget;
  const auto id = make_id<TensorId>(number);
  if (tensor.allocated_in == none<TaskId>) {
    live_[budget] += tensor.bytes;
    residence_[number] = Residence::resident;
  } else {
    actions_.push_back({tensor.allocated_in, budget, id, true, tensor.allocated_offset_ns,
                        tensor.allocated_sequence});
  }
  if (tensor.freed_in != none<TaskId>) {
    actions_.push_back(
        {tensor.freed_in, budget, id, false, tensor.freed_offset_ns, tensor.freed_sequence});
  }
}

std::span<const BudgetState::Action> BudgetState::actions_of(TaskId task) const {
  const auto first = std::partition_point(actions_.begin(), actions_.end(),
                                          [task](const Action& a) { return a.task < task; });
  auto last = first;
  while (last != actions_.end() && last->task == task) ++last;
  return {first, last};
}

std::int64_t BudgetState::bytes_of(TensorId tensor) const {
  return graph_->context().tensors[index(tensor)].bytes;
}

std::int64_t BudgetState::most_of(std::span<const Action> actions, std::uint32_t budget,
                                  TensorId& by) const {
  std::int64_t net = 0;
  std::int64_t most = 0;
  for (const Action& action : actions) {
    if (action.budget != budget) continue;
    const Residence residence = residence_[index(action.tensor)];
    if (action.allocates) {
      net += bytes_of(action.tensor);
      if (net > most) {
        most = net;
        by = action.tensor;
      }
      if (residence == Residence::doomed) net -= bytes_of(action.tensor);
      continue;
    }
    // What was evicted, or has yet to come, is not there to be freed.
    const TaskId born_in = graph_->context().tensors[index(action.tensor)].allocated_in;
    if (residence == Residence::resident || born_in == action.task) {
      net -= bytes_of(action.tensor);
    }
  }
  return most;
}

std::int64_t BudgetState::missing(TaskId task, std::size_t& budget) const {
  std::int64_t largest = 0;
  const std::span<const Action> actions = actions_of(task);
  for (std::uint32_t b = 0; b < budgets_.size() && !actions.empty(); ++b) {
    TensorId by{};
    const std::int64_t most = most_of(actions, b, by);
    const std::int64_t over = live_[b] + most - budgets_[b].bytes;
    // What only frees never waits, however full the device is.
    if (most > 0 && over > largest) {
      largest = over;
      budget = b;
    }
  }
  return largest;
}

void BudgetState::count(TensorId tensor, BudgetAction action, std::int64_t now_ns, TaskId task) {
  const std::uint32_t budget = budget_[index(tensor)];
  const bool comes = action == BudgetAction::allocated || action == BudgetAction::restored;
  live_[budget] += comes ? bytes_of(tensor) : -bytes_of(tensor);
  MemoryUse& use = uses_[budget];
  use.points.push_back({now_ns, live_[budget], tensor, action});
  if (live_[budget] > use.peak_bytes) {
    use.peak_bytes = live_[budget];
    use.peak_task = task;
  }
}

bool BudgetState::apply(TaskId task, std::int64_t now_ns) {
  bool frees = false;
  std::vector<std::int64_t> before;
  const std::span<const Action> actions = actions_of(task);
  if (!actions.empty()) before = live_;
  for (const Action& action : actions) {
    Residence& residence = residence_[index(action.tensor)];
    if (action.allocates) {
      count(action.tensor, BudgetAction::allocated, now_ns, task);
      if (residence == Residence::doomed) count(action.tensor, BudgetAction::freed, now_ns, task);
      residence = residence == Residence::doomed ? Residence::gone : Residence::resident;
    } else {
      if (residence == Residence::resident) {
        count(action.tensor, BudgetAction::freed, now_ns, task);
      }
      residence = residence == Residence::unborn ? Residence::doomed : Residence::gone;
    }
  }
  for (std::size_t b = 0; b < before.size(); ++b) frees = frees || live_[b] < before[b];
  return frees;
}

bool BudgetState::is_resident(TensorId tensor) const {
  return index(tensor) < residence_.size() && residence_[index(tensor)] == Residence::resident;
}

void BudgetState::evict(TensorId tensor, std::int64_t now_ns) {
  FORETRACE_CHECK(is_resident(tensor));
  residence_[index(tensor)] = Residence::gone;
  count(tensor, BudgetAction::evicted, now_ns, none<TaskId>);
}

void BudgetState::restore(TensorId tensor, std::int64_t now_ns) {
  FORETRACE_CHECK(residence_[index(tensor)] == Residence::gone);
  residence_[index(tensor)] = Residence::resident;
  count(tensor, BudgetAction::restored, now_ns, none<TaskId>);
}

std::int64_t BudgetState::room_bytes(TensorId tensor) const {
  const std::uint32_t budget = index(tensor) < budget_.size() ? budget_[index(tensor)] : no_budget;
  return budget == no_budget ? INT64_MAX : budgets_[budget].bytes - live_[budget];
}

std::int64_t BudgetState::budget_bytes(TensorId tensor) const {
  const std::uint32_t budget = index(tensor) < budget_.size() ? budget_[index(tensor)] : no_budget;
  return budget == no_budget ? INT64_MAX : budgets_[budget].bytes;
}

MemoryPressure BudgetState::pressure(TaskId task, std::size_t budget,
                                     std::int64_t missing_bytes) const {
  const MemoryBudget& limit = budgets_[budget];
  MemoryPressure pressure{.task = task,
                          .rank = limit.rank,
                          .device = limit.device,
                          .missing_bytes = missing_bytes,
                          .live_bytes = live_[budget],
                          .budget_bytes = limit.bytes};
  TensorId by{};
  if (most_of(actions_of(task), static_cast<std::uint32_t>(budget), by) > 0) {
    const Tensor& tensor = graph_->context().tensors[index(by)];
    pressure.operator_name = tensor.operator_name;
    pressure.layer = tensor.layer;
  }
  return pressure;
}

std::string BudgetState::describe(TaskId task) const {
  std::size_t budget = 0;
  const std::int64_t lacking = missing(task, budget);
  const MemoryPressure found = pressure(task, budget, lacking);
  const std::string_view owner = graph_->names()[found.operator_name];
  return fmt::format(
      "device {} of rank {}: out of memory: {} before task {} needs {} bytes more than are free, "
      "got {} of {} allocated",
      found.device, found.rank,
      owner.empty() ? std::string("the host") : fmt::format("'{}'", owner), index(task), lacking,
      found.live_bytes, found.budget_bytes);
}

}  // namespace foretrace::engine
