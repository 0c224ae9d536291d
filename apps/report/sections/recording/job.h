// Parts of documents and pages that are about the ranks of a job.
#pragma once

#include <string>

#include "apps/questions/compare/late_rank.h"
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
/// "rank 2 makes the others wait 1.038 s per step (91.6 %), last in 16 of 30 collectives".
[[nodiscard]] std::string late_rank_text(const LateRank& late);
[[nodiscard]] Value late_rank_value(const LateRank& late);

}  // namespace foretrace::report
