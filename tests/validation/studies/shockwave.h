// Predicts the tables of Shockwave's artefact: its policies on its trace of jobs that change their
// batch size.
#pragma once

#include "sim/core/result.h"
#include "tests/validation/studies/batch_rules.h"
#include "tests/validation/studies/score.h"

namespace foretrace::scheduling::shockwave {

/// What the runs need: the jobs (sched_shockwave_jct), rates (sched_shockwave_throughput) and the
/// rules of batch sizes.
struct ShockwaveInputs {
  const TruthTable* jobs = nullptr;
  const TruthTable* rates = nullptr;
  const BatchRules* rules = nullptr;
};

/// Per policy: columns policy, kind and figures of the whole run. Rows of the real cluster are
/// predicted by the same run.
[[nodiscard]] Result<TruthScore> score_shockwave_results(const TruthTable& table,
                                                         const ShockwaveInputs& inputs);

}  // namespace foretrace::scheduling::shockwave
