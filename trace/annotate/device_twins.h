// Phases of device work that was launched before the trace began.
#pragma once

#include <vector>

#include "trace/annotate/host_phases.h"

namespace foretrace::trace {

/// Device work without a launch is the end of what the stream did before the trace began. It takes
/// phase and layer from the place in the recorded work that it repeats; else the phase that equal
/// work (name, grid, block, bytes) has everywhere in the rank; else what both neighbours on its
/// stream agree on.
void attribute_twins(Attribution& attribution, const std::vector<EventId>& launches);

}  // namespace foretrace::trace
