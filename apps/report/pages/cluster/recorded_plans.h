// The page of `recorded-plans`.
#pragma once

#include <cstddef>
#include <vector>

#include "apps/plans/recorded_plans.h"
#include "apps/report/section.h"
#include "apps/session/recording/load.h"
#include "apps/session/replay/doubt.h"

namespace foretrace::report {

/// What `plan` answers of a recording.
struct RecordedPlansPart {
  const Recording& recording;
  const RecordedPlans& answer;
  std::size_t keep = 5;         ///< plans that a page shows
  std::vector<Doubt> doubts{};  ///< of the recording's replay
};
/// foretrace.recorded_plans/2.
[[nodiscard]] Page recorded_plans_page(const RecordedPlansPart& part);

}  // namespace foretrace::report
