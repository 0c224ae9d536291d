// How the formula's parts of a scenario's step become parts of the simulated step.
#pragma once

#include "apps/report/pages.h"

namespace foretrace::report::sections {

/// Where the step goes: the parts that the formula tells apart, as long as in the simulated step.
struct StepParts {
  double scale = 1;   ///< of the formula's parts
  double slower = 0;  ///< what waiting for slower ranks adds to them; they sum to the step then
};

[[nodiscard]] double sum_of(const auto& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

[[nodiscard]] StepParts parts_of(const ScenarioPart& part);

}  // namespace foretrace::report::sections
