// Parts of documents and pages that are about the ranks of a job.
#pragma once

#include "apps/report/section.h"
#include "apps/session/predict.h"
#include "apps/session/recording/load.h"

namespace foretrace::report {

/// Every rank: steps, clock, collectives; for documents.
[[nodiscard]] Table ranks_table(const Recording& recording, const Replay& replay);
/// Groups of ranks, and how their collectives were matched; for documents.
[[nodiscard]] Table communicators_table(const JobFacts& job);
/// "+12.5 +-0.3 us", or what stands for a clock that could not be aligned.
[[nodiscard]] Value clock_value(const trace::RankClock& clock);

}  // namespace foretrace::report
