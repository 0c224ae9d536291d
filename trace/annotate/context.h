// Phases of host events without evidence of their own, from what their thread does around them.
#pragma once

#include "trace/annotate/host_phases.h"

namespace foretrace::trace {

/// Fills in what stands between two pieces of evidence. A rank without any backward or update is
/// inference: everything its operators' threads do is forward. Needs phases and operators.
void attribute_by_context(Attribution& attribution);

}  // namespace foretrace::trace
