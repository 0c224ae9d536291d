// A run within a memory budget: whether it fits, and what it costs to make it fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/session/session.h"
#include "models/policies/eviction/policy.h"
#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// "6 GiB" of every device, or "70 %" of what each needs.
struct BudgetSize {
  std::int64_t bytes = 0;
  double share = 0;  ///< not 0: of the peak
};
[[nodiscard]] Result<BudgetSize> parse_budget_size(std::string_view text);

/// What happens when a request does not fit: block, fail, or a policy with checked parameters.
struct WhenFullChoice {
  std::string name = "fail";
  const PolicyInfo* policy = nullptr;
  std::vector<std::pair<std::string, std::string>> parameters{};  ///< defaults included
  std::optional<ParamValues> values{};
};
/// "block", "fail" or POLICY[:key=value,...]. Errors name the nearest one.
[[nodiscard]] Result<WhenFullChoice> parse_when_full(std::string_view text);

struct BudgetDevice {
  std::int32_t rank = 0;
  std::int32_t device = 0;
  std::int64_t budget_bytes = 0;     ///< as asked for
  std::int64_t overhead_bytes = 0;   ///< of it, see BudgetQuestion; the rest is for live blocks
  std::int64_t base_bytes = 0;       ///< there before the window
  std::int64_t assumed_bytes = 0;    ///< of what the device holds, estimated from shapes
  std::int64_t free_peak_bytes = 0;  ///< without a budget
  std::int64_t peak_bytes = 0;       ///< within it
};

/// The request at which a run ends.
struct BudgetStop {
  MemoryPressure pressure;
  std::string operator_name{};  ///< empty: not known
  std::string layer{};
  std::string task{};  ///< the host call before which it is made
  Phase phase = Phase::unknown;
  bool gave_up = false;  ///< the policy recomputed without end
};

/// Another choice, tried with its defaults.
struct BudgetTry {
  std::string name;
  bool fits = false;
  std::int64_t step_ns = 0;
};

/// What was executed within the budget.
struct BudgetRun {
  TaskGraph graph;  ///< that the engine ran
  Execution execution;
};

struct BudgetAnswer {
  WhenFullChoice choice;
  bool is_needed = false;  ///< some device wants more than its budget
  bool fits = false;
  std::vector<BudgetDevice> devices{};
  std::int64_t step_before_ns = 0;
  std::int64_t step_after_ns = 0;  ///< 0 if it does not fit
  std::int64_t span_before_ns = 0;
  std::int64_t span_after_ns = 0;
  bool is_span = false;  ///< no steps were recorded
  PolicyCounts counts{};
  std::size_t memory_waits = 0;
  std::int64_t memory_waited_ns = 0;
  std::optional<BudgetStop> stop{};
  /// If nothing fits: a smallest budget with which `enough_with` does, to a hundredth of the peak.
  std::int64_t enough_bytes = 0;
  std::string enough_with{};
  std::vector<BudgetTry> remedies{};  ///< if it does not fit: shortest step first
  std::optional<BudgetRun> run{};     ///< if it fits
};

struct BudgetQuestion {
  BudgetSize size;
  WhenFullChoice choice;
  /// Of a size in bytes, what is not for live blocks: see count_overhead. The budget is the rest.
  std::int64_t overhead_bytes = 0;
};
/// Counts what --fit counts: of a size in bytes, the context of the driver and what the allocator
/// reserves beyond live blocks. Refuses what --fit refuses, and a size that these alone exceed.
[[nodiscard]] Status count_overhead(const Session& session, BudgetQuestion& question);
/// What blocking and every policy, with defaults, would make of the run, but for the choice that is
/// asked about: those that fit first, shortest step first. Policies that refuse the trace are left
/// out. The size is one in bytes.
[[nodiscard]] Result<std::vector<BudgetTry>> try_policies(const TaskGraph& graph,
                                                          const BudgetQuestion& question,
                                                          const RunOptions& options);

/// Runs the event-driven engine with a budget on every device that holds tensors. Errors:
/// unsupported without recorded memory.
[[nodiscard]] Result<BudgetAnswer> run_in_budget(const TaskGraph& recorded,
                                                 const BudgetQuestion& question,
                                                 const RunOptions& options);

}  // namespace foretrace
