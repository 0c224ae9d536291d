// Plans of a job with what-ifs: those that are fast, or nearly fit, without them are simulated
// operator by operator with them.
#pragma once

#include "apps/plans/plan_search.h"
#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"

namespace foretrace {

/// As search_plans(), of a scenario that has what-ifs. Per grid the plan that is the fastest
/// without them is tried, and of grids where none fits without them the smallest; grids that are
/// several times slower than the best are left as they are.
[[nodiscard]] Result<PlanAnswer> search_changed_plans(const PlanQuestion& question,
                                                      const CataloguePtr& known);

}  // namespace foretrace
