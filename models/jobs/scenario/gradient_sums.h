// How a scenario's gradients are added up between nodes: by switches, and by blocks.
#pragma once

#include "models/jobs/scenario/scenario.h"
#include "sim/core/config.h"

namespace foretrace {

/// "aggregation": switches that add up, in place of those of the cluster's file.
void read_aggregation(ConfigFields& fields, ScenarioParts& parts, Scenario& scenario);
/// "sparse_gradients": only blocks that are not all zero move. Read behind cluster and plan.
void read_sparse_gradients(ConfigFields& fields, Scenario& scenario);

}  // namespace foretrace
