// The page of `stages`.
#pragma once

#include <string_view>

#include "apps/plans/stage_search.h"
#include "apps/report/section.h"
#include "models/jobs/scenario/scenario.h"

namespace foretrace::report {

/// What `plan --stages auto` answers.
struct StagesPart {
  const Scenario& scenario;
  const StageAnswer& answer;
  std::string_view written{};  ///< where the best plan was written; empty: nowhere
};
/// foretrace.stages/2.
[[nodiscard]] Page stages_page(const StagesPart& part);

}  // namespace foretrace::report
