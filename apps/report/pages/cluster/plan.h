// The page of `plan`.
#pragma once

#include <span>

#include "apps/plans/plan_search.h"
#include "apps/report/section.h"
#include "models/jobs/scenario/scenario.h"

namespace foretrace::report {

/// What `plan` answers: one search, or one per number of devices.
struct PlansPart {
  const Scenario& scenario;
  std::span<const PlanAnswer> strong;  ///< of one batch
  std::span<const PlanAnswer> weak;    ///< of one batch per device; empty: not asked for
};
/// foretrace.plan/2.
[[nodiscard]] Page plans_page(const PlansPart& part);

}  // namespace foretrace::report
