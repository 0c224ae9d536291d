// What-ifs that change a modelled job itself, rather than the graph of its step.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "apps/session/prediction.h"
#include "apps/session/recording/recording.h"
#include "models/jobs/scenario/scenario.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/result.h"

namespace foretrace {

/// The what-ifs that stand in a scenario, checked. Errors give the file and the place.
[[nodiscard]] Result<std::vector<WhatIf>> what_ifs_of(const Scenario& scenario);

/// The job as these what-ifs make it.
struct ChangedJob {
  Recording recording;
  std::vector<Applied> applied;
  double samples = 1;          ///< of its step / of a step before
  std::vector<WhatIf> others;  ///< of the stack: they act on its graph
};
/// Nothing where the run was recorded, or no what-if of the stack changes jobs. Errors name the
/// what-if.
[[nodiscard]] Result<std::optional<ChangedJob>> changed_job(const Recording& recording,
                                                            std::span<const WhatIf> stack);

}  // namespace foretrace
