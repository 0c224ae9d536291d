// Predicts the tables of Pollux' artefact: completion times of its jobs under Tiresias.
#pragma once

#include "sim/core/result.h"
#include "tests/validation/studies/score.h"

namespace foretrace::scheduling::pollux {

/// Per job: columns workload, job, app, arrival_s, gpus, batch, jct_<policy>_s. `times` has step
/// and synchronization times by placement (sched_pollux_iter_time), `work` the iterations of each
/// epoch (sched_pollux_work).
[[nodiscard]] Result<TruthScore> score_pollux(const TruthTable& jobs, const TruthTable& times,
                                              const TruthTable& work);

}  // namespace foretrace::scheduling::pollux
