// The answer to a scenario, for people and as a document.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "apps/driver/plan/scenario_answer.h"

namespace foretrace::app {

[[nodiscard]] std::string scenario_headline(const driver::Scenario& scenario,
                                            const driver::ScenarioAnswer& answer);
[[nodiscard]] std::string scenario_page(const driver::Scenario& scenario,
                                        const driver::ScenarioAnswer& answer);
/// foretrace.result/1 with `measured` and `baseline` null.
[[nodiscard]] nlohmann::ordered_json scenario_document(const driver::Scenario& scenario,
                                                       const driver::ScenarioAnswer& answer);

}  // namespace foretrace::app
