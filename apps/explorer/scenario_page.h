// A step that was never recorded, as a page: its pipeline schedule, memory of the stages, and where
// its time goes. Sliders simulate it anew.
#pragma once

#include <string>
#include <vector>

#include "apps/explorer/page.h"
#include "models/jobs/figures/scenario_answer.h"

namespace foretrace::explorer {

struct ScenarioInput {
  const Scenario& scenario;
  const ScenarioAnswer& answer;
  std::string details;   ///< HTML of the whole answer
  std::string document;  ///< the same as JSON
  std::string version;
};

/// Errors: a step that is too long, or whose order a page cannot follow.
[[nodiscard]] Result<Page> make_scenario_page(const ScenarioInput& input);

}  // namespace foretrace::explorer
