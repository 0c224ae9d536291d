// A recording, simulated as it was.
#pragma once

#include <memory>
#include <vector>

#include "apps/session/recording/recording.h"
#include "apps/session/replay/doubt.h"
#include "apps/session/replay/lighter_host.h"
#include "apps/session/replay/run.h"
#include "sim/core/once.h"
#include "sim/core/result.h"
#include "sim/result/steps/steps.h"

namespace foretrace {

/// A recording beside its simulation.
struct Replay {
  StepTimes measured;
  StepAnswer measured_answer;
  bool is_given =
      false;  ///< its step was given (Recording::unprofiled); `measured` has profiled ones
  Run run;
  double error = 0;  ///< simulated / measured - 1, of the step that answers
  double span_error = 0;
  double worst_step_error = 0;  ///< of all host periods, the one farthest from 0
  double scatter = 0;           ///< of the measured steps, see scatter_of
  Reactions reactions;
  std::shared_ptr<const ModelledStep> modelled{};  ///< see Recording::modelled
  std::vector<Doubt> doubts;  ///< not empty: every answer built on it is doubtful
  /// Of the recording, for the ranges of all that is predicted from it.
  Once<Result<LighterHost>> lighter_host{};

  /// Whether times were recorded, or given, to compare with.
  [[nodiscard]] bool has_measured() const { return measured_answer.step_ns > 0; }
};
[[nodiscard]] Result<Replay> replay(const Recording& recording, const RunOptions& options = {});

}  // namespace foretrace
