// WhatIfInput: what a what-if looks at.
#pragma once

#include "models/hardware/catalogue/catalogue.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// What a what-if may look at. Nothing in it is mutable.
struct WhatIfInput {
  const TaskGraph& graph;
  const Accelerator* accelerator;  ///< of the recording; null if it is not known
  const Catalogue& catalogue;      ///< what parameters name
};

}  // namespace foretrace
