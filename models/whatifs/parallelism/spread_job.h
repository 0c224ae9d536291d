// A job that was modelled under another plan: what spreading means where nothing was recorded.
#pragma once

#include <optional>
#include <string>

#include "models/editing/what_if_input.h"
#include "models/jobs/scenario/scenario.h"
#include "sim/core/params.h"
#include "sim/core/result.h"

namespace foretrace::parallel_parts {

/// Sizes that are not given stay as the job has them; each data rank keeps its batch. Gives a note;
/// nothing where the graph is edited instead (recorded=true). Errors: what only a recording has; a
/// plan that the job cannot have.
[[nodiscard]] Result<std::optional<std::string>> spread_job(const WhatIfInput& input,
                                                            const ParamValues& params,
                                                            Scenario& scenario);

}  // namespace foretrace::parallel_parts
