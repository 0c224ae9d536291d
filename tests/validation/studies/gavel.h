// Predicts the curves of Gavel: mean completion time against the rate of arrivals, per policy.
#pragma once

#include "sim/core/result.h"
#include "tests/validation/studies/score.h"

namespace foretrace::scheduling::gavel {

/// Columns trace, metric, policy, rate_jobs_per_h, jobs, value. `rates` has steps per second by
/// kind, model, batch and workers (gavel_job_throughput); more of the same may follow.
[[nodiscard]] Result<TruthScore> score_gavel_curves(const TruthTable& table,
                                                    const std::vector<const TruthTable*>& rates);

}  // namespace foretrace::scheduling::gavel
