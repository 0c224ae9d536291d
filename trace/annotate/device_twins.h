// Phases of device work that was launched before the trace began.
#pragma once

#include <vector>

#include "trace/annotate/host_phases.h"

namespace foretrace::trace {

/// Device work without a launch takes the phase that equal work (name, grid, block, bytes) has
/// everywhere else in the rank, and then what both neighbours on its stream agree on.
void attribute_twins(Attribution& attribution, const std::vector<EventId>& launches);

}  // namespace foretrace::trace
