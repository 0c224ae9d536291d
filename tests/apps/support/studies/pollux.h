// Predicts the tables of Pollux' artefact: completion times of its jobs under Tiresias.
#pragma once

#include "sim/core/result.h"
#include "tests/apps/support/studies/truth.h"

namespace foretrace::scheduling {

/// Per job: columns workload, job, app, arrival_s, gpus, batch, jct_<policy>_s. `times` has step
/// and synchronization times by placement (sched_pollux_iter_time), `work` the iterations of each
/// epoch (sched_pollux_work).
[[nodiscard]] Result<TruthScore> score_pollux(const Truth& jobs, const Truth& times,
                                              const Truth& work);

}  // namespace foretrace::scheduling
