// Predicts the tables of the Tiresias simulator: when each job of a list ends under each policy.
#pragma once

#include "sim/core/result.h"
#include "tests/validation/studies/score.h"

namespace foretrace::scheduling::tiresias {

/// Tables with columns job, gpus, submit_s, duration_s and end_s_<policy>.
[[nodiscard]] Result<TruthScore> score_tiresias(const TruthTable& table);

}  // namespace foretrace::scheduling::tiresias
