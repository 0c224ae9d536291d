#include "apps/session/replay/replay.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/session/recording/measured_steps.h"

namespace foretrace {
namespace {

double ratio_less_one(std::int64_t simulated, std::int64_t measured) {
  return measured == 0 ? 0 : static_cast<double>(simulated) / static_cast<double>(measured) - 1;
}

double worst_of(const StepTimes& measured, const StepTimes& simulated) {
  double worst = 0;
  if (!measured.ranks.empty() && measured.ranks.size() == simulated.ranks.size()) {
    for (std::size_t r = 0; r < measured.ranks.size(); ++r) {
      const double error = worst_of(measured.ranks[r], simulated.ranks[r]);
      worst = std::abs(error) > std::abs(worst) ? error : worst;
    }
    return worst;
  }
  for (std::size_t i = 0; i < std::min(measured.host_ns.size(), simulated.host_ns.size()); ++i) {
    const double error = ratio_less_one(simulated.host_ns[i], measured.host_ns[i]);
    worst = std::abs(error) > std::abs(worst) ? error : worst;
  }
  return worst;
}

/// Only the time of a step is known without the profiler: what else was recorded is of another run.
void take_given(std::int64_t step_ns, Replay& replay) {
  replay.is_given = true;
  replay.measured_answer.step_ns = step_ns;
  replay.measured_answer.host_ns = step_ns;
  replay.measured_answer.device_ns = -1;
  replay.measured_answer.limit = replay.run.answer.limit;
  std::fill(replay.measured.device_ns.begin(), replay.measured.device_ns.end(), -1);
  replay.measured.span_ns = 0;
  replay.error = ratio_less_one(replay.run.answer.step_ns, step_ns);
  replay.worst_step_error = replay.error;
  replay.span_error = 0;
}

}  // namespace

Result<Replay> replay(const Recording& recording, const RunOptions& options) {
  if (recording.unprofiled && options.step.kind == StepChoice::Kind::number) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("step {}: the unprofiled time is of a usual step, not of "
                             "this one, expected median or all",
                             options.step.number)};
  }
  Replay replay;
  replay.measured = measured_steps(recording.built);
  FORETRACE_TRY(StepAnswer measured, answer_of(replay.measured, options.step));
  FORETRACE_TRY(Run run, simulate_run(recording.graph(), options));
  replay.measured_answer = measured;
  replay.run = std::move(run);
  replay.error = ratio_less_one(replay.run.answer.step_ns, measured.step_ns);
  replay.span_error = ratio_less_one(replay.run.steps.span_ns, replay.measured.span_ns);
  replay.worst_step_error = worst_of(replay.measured, replay.run.steps);
  replay.scatter = scatter_of(replay.measured);
  if (recording.unprofiled) {
    take_given(recording.unprofiled->step_ns, replay);
  }
  replay.modelled = recording.modelled;
  replay.reactions = reactions_of(recording.graph());
  replay.doubts = doubts_of(recording.report);
  if (auto doubt = doubt_of_replay(replay.run.answer.step_ns, replay.measured_answer.step_ns)) {
    replay.doubts.push_back(*std::move(doubt));
  }
  for (Doubt& doubt : doubts_of(recording.built, replay.run.timeline, replay.reactions)) {
    replay.doubts.push_back(std::move(doubt));
  }
  return replay;
}

}  // namespace foretrace
