// A scenario of a model as a recording: its step operator by operator, as if it had been recorded.
#pragma once

#include <memory>

#include "apps/session/recording/recording.h"
#include "models/jobs/program/ranged_step.h"
#include "models/jobs/scenario/scenario.h"
#include "sim/core/result.h"

namespace foretrace {

/// What a step was modelled from, where none was recorded.
struct ModelledStep {
  std::shared_ptr<const Scenario> scenario;
  RangedStep range;  ///< of the step, by the figures of its machine and framework
};

/// The step of a scenario with its tensors, without the what-ifs that stand in it, and no recorded times. Errors:
/// ranks that scatter, stages that are not alike, schedules that divide backward passes.
[[nodiscard]] Result<Recording> modelled_recording(const Scenario& scenario);

}  // namespace foretrace
