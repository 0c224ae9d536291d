// Simulates with budgets: first without a limit, which tells what is needed, then within it.
#include "apps/questions/memory/memory_budget.h"

#include <algorithm>
#include <utility>

#include "sim/core/whole.h"
#include "sim/engine/event/event_driven.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/engine/pull/pull.h"

namespace foretrace {
namespace {

// More than any device has, and far from overflow.
constexpr std::int64_t no_limit = std::int64_t{1} << 60;

/// Notes what does not fit; the engine blocks or fails.
class Watcher final : public MemoryPolicy {
 public:
  void make_room(const MemoryPressure& pressure, Simulation& /*simulation*/) override {
    note(pressure);
  }
};

/// One run within budgets; without an execution it did not get through.
struct Attempt {
  std::optional<Execution> execution;
  PolicyCounts counts;
  std::optional<MemoryPressure> pressure;
};

Result<Attempt> attempt(const TaskGraph& graph, std::vector<MemoryBudget> budgets,
                        const WhenFullChoice& choice) {
  Attempt attempt;
  std::unique_ptr<MemoryPolicy> policy = std::make_unique<Watcher>();
  if (choice.policy != nullptr) {
    FORETRACE_TRY(policy, choice.policy->make(graph, *choice.values));
  }
  for (MemoryBudget& budget : budgets) {
    budget.when_full = choice.name == "fail" ? WhenFull::fail : WhenFull::block;
  }
  Result<Execution> execution = simulate_event_driven(
      graph,
      {.policy = policy.get(), .waits = WaitResolution::recorded, .budgets = std::move(budgets)});
  attempt.counts = policy->counts();
  attempt.pressure = policy->last_pressure();
  if (execution.ok()) {
    attempt.execution = *std::move(execution);
  } else if (execution.error().code != ErrorCode::unsupported) {
    return execution.error();
  }
  return attempt;
}

struct Times {
  StepAnswer step;
  std::int64_t span_ns = 0;
};

Result<Times> times_of(const TaskGraph& graph, const Timeline& timeline,
                       const RunOptions& options) {
  const StepTimes steps = simulated_steps(graph, timeline);
  FORETRACE_TRY(const StepAnswer answer, answer_of(steps, options.step));
  return Times{answer, steps.span_ns};
}

BudgetStop stop_of(const TaskGraph& graph, const Attempt& attempt) {
  BudgetStop stop{.pressure = attempt.pressure.value_or(MemoryPressure{}),
                  .gave_up = attempt.counts.gave_up};
  if (!attempt.pressure) return stop;
  const MemoryPressure& pressure = *attempt.pressure;
  stop.operator_name = graph.names()[pressure.operator_name];
  const auto& layers = graph.context().layers;
  if (index(pressure.layer) > 0 && index(pressure.layer) < layers.size()) {
    stop.layer = graph.names()[layers[index(pressure.layer)].name];
  }
  stop.task = graph.name(pressure.task);
  stop.phase = graph.phase(pressure.task);
  return stop;
}

/// Everything else that could be said to --when-full, with defaults.
Result<std::vector<BudgetTry>> try_others(const TaskGraph& graph,
                                          const std::vector<MemoryBudget>& budgets,
                                          const WhenFullChoice& chosen, const RunOptions& options) {
  std::vector<std::string> names = {"block"};
  for (const PolicyInfo* const policy : policies::all()) names.emplace_back(policy->name);
  std::vector<BudgetTry> tries;
  for (const std::string& name : names) {
    if (name == chosen.name) continue;
    FORETRACE_TRY(const WhenFullChoice choice, parse_when_full(name));
    const Result<Attempt> other = attempt(graph, budgets, choice);
    // A policy that refuses the trace is no way out.
    if (!other.ok() && other.error().code == ErrorCode::unsupported) continue;
    FORETRACE_TRY(other);
    BudgetTry row{.name = name, .fits = other->execution.has_value()};
    if (row.fits) {
      FORETRACE_TRY(const Times times, times_of(graph, other->execution->timeline, options));
      row.step_ns = times.step.step_ns;
    }
    tries.push_back(std::move(row));
  }
  std::stable_sort(tries.begin(), tries.end(), [](const BudgetTry& a, const BudgetTry& b) {
    return std::pair(!a.fits, a.step_ns) < std::pair(!b.fits, b.step_ns);
  });
  return tries;
}

/// Halves what lies between a budget that does not do and the peak, which does.
Status find_enough(const TaskGraph& graph, const std::vector<MemoryBudget>& budgets,
                   BudgetAnswer& answer) {
  WhenFullChoice choice = answer.choice;
  if (choice.policy == nullptr) {
    // The first policy that takes the trace, or none.
    std::string_view name = "block";
    for (const PolicyInfo* const policy : policies::all()) {
      const bool was_tried =
          std::any_of(answer.remedies.begin(), answer.remedies.end(),
                      [&](const BudgetTry& tried) { return tried.name == policy->name; });
      if (was_tried && name == "block") name = policy->name;
    }
    FORETRACE_TRY(choice, parse_when_full(name));
  }
  const auto at = [&](std::size_t i, int percent) {
    const std::int64_t from = budgets[i].bytes;
    return from + (answer.devices[i].free_peak_bytes - from) * percent / 100;
  };
  int low = 0;
  int high = 100;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    std::vector<MemoryBudget> wider = budgets;
    for (std::size_t i = 0; i < wider.size(); ++i) {
      wider[i].bytes = std::max(budgets[i].bytes, at(i, middle));
    }
    FORETRACE_TRY(const Attempt tried, attempt(graph, std::move(wider), choice));
    (tried.execution ? high : low) = middle;
  }
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    answer.enough_bytes = std::max(answer.enough_bytes, at(i, high));
  }
  answer.enough_with = choice.name;
  return ok_status();
}

std::int64_t assumed_bytes(const TaskGraph& graph, const MemoryUse& use) {
  std::int64_t bytes = 0;
  for (const Tensor& tensor : graph.context().tensors) {
    const bool is_there =
        tensor.device == use.device && (tensor.rank < 0 || tensor.rank == use.rank);
    if (is_there && tensor.provenance == Provenance::assumed &&
        tensor.allocated_in == none<TaskId>) {
      bytes += tensor.bytes;
    }
  }
  return bytes;
}

std::vector<MemoryBudget> unlimited(const TaskGraph& graph) {
  std::vector<MemoryBudget> budgets;
  for (const MemoryCurve& curve : track_memory(graph, simulate(graph))) {
    budgets.push_back({.rank = curve.rank, .device = curve.device, .bytes = no_limit});
  }
  return budgets;
}

std::int64_t size_for(const BudgetQuestion& question, std::int64_t peak) {
  const BudgetSize& size = question.size;
  return size.share == 0 ? std::max<std::int64_t>(1, size.bytes - question.overhead_bytes)
                         : to_whole(size.share * static_cast<double>(peak));
}

}  // namespace

Result<std::vector<BudgetTry>> try_policies(const TaskGraph& graph, const BudgetQuestion& question,
                                            const RunOptions& options) {
  std::vector<MemoryBudget> budgets = unlimited(graph);
  for (MemoryBudget& budget : budgets) {
    budget.bytes = size_for(question, budget.bytes);
  }
  return try_others(with_copy_lanes(graph, budgets), budgets, question.choice, options);
}

Result<BudgetAnswer> run_in_budget(const TaskGraph& recorded, const BudgetQuestion& question,
                                   const RunOptions& options) {
  std::vector<MemoryBudget> budgets = unlimited(recorded);
  if (budgets.empty()) {
    return Error{
        ErrorCode::unsupported,
        "memory budget: the trace records neither device memory nor tensor shapes, expected "
        "[memory] events (torch.profiler with profile_memory=True or record_shapes=True)"};
  }
  const TaskGraph graph = with_copy_lanes(recorded, budgets);
  FORETRACE_TRY(const Attempt before, attempt(graph, budgets, {.name = "block"}));
  FORETRACE_CHECK(before.execution.has_value());
  FORETRACE_TRY(const Times free_times, times_of(graph, before.execution->timeline, options));

  BudgetAnswer answer{.choice = question.choice,
                      .step_before_ns = free_times.step.step_ns,
                      .span_before_ns = free_times.span_ns,
                      .is_span = free_times.step.is_span};
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    const MemoryUse& use = before.execution->memory[i];
    budgets[i].bytes = size_for(question, use.peak_bytes);
    answer.is_needed = answer.is_needed || use.peak_bytes > budgets[i].bytes;
    const std::int64_t overhead = question.size.share == 0 ? question.overhead_bytes : 0;
    answer.devices.push_back({.rank = use.rank,
                              .device = use.device,
                              .budget_bytes = budgets[i].bytes + overhead,
                              .overhead_bytes = overhead,
                              .base_bytes = use.base_bytes,
                              .assumed_bytes = assumed_bytes(graph, use),
                              .free_peak_bytes = use.peak_bytes});
  }
  // A policy that is never asked may as well refuse the trace.
  FORETRACE_TRY(Attempt within,
                attempt(graph, budgets,
                        answer.is_needed ? question.choice : WhenFullChoice{.name = "block"}));
  answer.counts = within.counts;
  answer.fits = within.execution.has_value();
  if (!answer.fits) {
    answer.stop = stop_of(graph, within);
    FORETRACE_TRY(answer.remedies, try_others(graph, budgets, question.choice, options));
    if (answer.remedies.empty() || !answer.remedies.front().fits) {
      FORETRACE_TRY(find_enough(graph, budgets, answer));
      answer.enough_bytes += answer.devices.front().overhead_bytes;
    }
    return answer;
  }
  const Execution& execution = *within.execution;
  FORETRACE_TRY(const Times times, times_of(graph, execution.timeline, options));
  answer.step_after_ns = times.step.step_ns;
  answer.span_after_ns = times.span_ns;
  answer.memory_waits = execution.memory_waits;
  answer.memory_waited_ns = execution.memory_waited_ns;
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    answer.devices[i].peak_bytes = execution.memory[i].peak_bytes;
  }
  answer.run = BudgetRun{graph, *std::move(within.execution)};
  return answer;
}

}  // namespace foretrace
