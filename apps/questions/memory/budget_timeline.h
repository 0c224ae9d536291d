// A run within a memory budget, as a trace viewer shows it.
#pragma once

#include <vector>

#include "apps/questions/memory/memory_budget.h"
#include "sim/core/result.h"
#include "sim/engine/event/executed_graph.h"
#include "sim/result/export/chrome_trace.h"

namespace foretrace {

struct BudgetTimeline {
  ExecutedGraph executed;
  std::vector<ChromeCounter> counters;   ///< live bytes, per device with a budget
  std::vector<ChromeInstants> instants;  ///< tensors that the policy took away and brought back
};

/// Of a run that fits: with the calls, kernels and copies that the policy put in, repeated ones as
/// "recompute: NAME".
[[nodiscard]] Result<BudgetTimeline> budget_timeline(const BudgetRun& run);

}  // namespace foretrace
