// Whatever a run can be opened from: recordings, or a scenario of a model with its own what-ifs.
#pragma once

#include <span>
#include <string>

#include "apps/session/recording/load.h"
#include "apps/session/recording/recording.h"
#include "apps/session/session.h"
#include "models/jobs/scenario/scenario.h"
#include "sim/core/result.h"

namespace foretrace {

/// See load_inputs(); a scenario is the run that it describes, with the what-ifs that stand in it.
[[nodiscard]] Result<Recording> load_run(std::span<const std::string> inputs,
                                         const LoadOptions& options = {});

/// What its what-ifs make of the job without them.
[[nodiscard]] Result<Answer> answer_what_ifs(const Scenario& scenario, const CataloguePtr& known);

}  // namespace foretrace
