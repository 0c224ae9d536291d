// How the formula's parts of a scenario's step become parts of the simulated step: the one
// definition of them, for tables, documents and pages.
#pragma once

#include "apps/report/pages/cluster/scenario.h"

namespace foretrace::report::sections {

/// Where the simulated step goes on its slowest stage. What the stage does takes as long as the
/// formula says; the rest of the step it waits for other stages.
struct StepParts {
  StepBreakdown parts;  ///< sums to the step, but for `slower`
  double scale = 1;     ///< of what the stage does; below 1 where ranks happen to be fast
  double slower = 0;    ///< waiting for slower ranks
};

[[nodiscard]] double sum_of(const auto& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

[[nodiscard]] StepParts parts_of(const ScenarioPart& part);

}  // namespace foretrace::report::sections
