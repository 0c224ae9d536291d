// Predicts the curves of Gavel: mean completion time against the rate of arrivals, per policy.
#pragma once

#include "sim/core/result.h"
#include "tests/apps/support/studies/truth.h"

namespace foretrace::scheduling {

/// Columns trace, metric, policy, rate_jobs_per_h, jobs, value. `rates` has steps per second by
/// kind, model, batch and workers (gavel_job_throughput); more of the same may follow.
[[nodiscard]] Result<TruthScore> score_gavel_curves(const Truth& table,
                                                    const std::vector<const Truth*>& rates);

}  // namespace foretrace::scheduling
