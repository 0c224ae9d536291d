// The page of `scenario`.
#pragma once

#include <string_view>

#include "apps/report/section.h"
#include "models/hardware/catalogue/catalogue.h"
#include "models/jobs/figures/scenario_answer.h"
#include "models/jobs/scenario/scenario.h"

namespace foretrace::report {

/// What `simulate` answers to a scenario.
struct ScenarioPart {
  const Scenario& scenario;
  const ScenarioAnswer& answer;
  std::string_view timeline{};       ///< where it was written; empty: nowhere
  const Catalogue* known = nullptr;  ///< what boards draw; null: energy is left out
};
/// foretrace.result/2.
[[nodiscard]] Page scenario_page(const ScenarioPart& part);

}  // namespace foretrace::report
