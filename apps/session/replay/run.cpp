#include "apps/session/replay/run.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/engine/event/event_driven.h"
#include "sim/engine/pull/pull.h"

namespace foretrace {
namespace {

/// Policies decide order at run time, which one pass in program order cannot follow.
bool has_policies(const TaskGraph& graph) {
  const std::vector<Lane>& lanes = graph.context().lanes;
  return std::any_of(lanes.begin(), lanes.end(),
                     [](const Lane& lane) { return lane.policy != LanePolicy::program_order; });
}

}  // namespace

Result<Run> simulate_run(const TaskGraph& graph, const RunOptions& options) {
  Run run;
  if (options.engine == Engine::pull && !has_policies(graph)) {
    run.timeline = simulate(graph);
    run.is_pulled = true;
  } else {
    FORETRACE_TRY(Execution execution, simulate_event_driven(graph));
    run.timeline = std::move(execution.timeline);
  }
  run.steps = simulated_steps(graph, run.timeline);
  FORETRACE_TRY(run.answer, answer_of(run.steps, options.step));
  return run;
}

}  // namespace foretrace
