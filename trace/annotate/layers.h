// Layers of host events: modules around forward work, and the backward of that work.
#pragma once

#include "trace/annotate/host_phases.h"

namespace foretrace::trace {

/// Gives host events their layer and fills the list of modules. Needs phases.
void attribute_layers(Attribution& attribution);

}  // namespace foretrace::trace
