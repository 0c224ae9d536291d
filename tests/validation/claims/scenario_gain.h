// One scenario against another: how much shorter its step is.
#pragma once

#include <string>

#include "models/hardware/catalogue/catalogue.h"
#include "sim/core/result.h"

namespace foretrace {

/// Step of the first over that of the second.
struct ScenarioGain {
  double point = 1;
  double low = 1;  ///< at the ends of the second one's range
  double high = 1;
};

/// Texts of foretrace.scenario/1; `where` stands in messages. Errors: those of reading either.
[[nodiscard]] Result<ScenarioGain> scenario_gain(const Catalogue& catalogue,
                                                 const std::string& before,
                                                 const std::string& after,
                                                 const std::string& where);

}  // namespace foretrace
