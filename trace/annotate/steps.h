// Step windows from ProfilerStep marks.
#pragma once

#include <vector>

#include "trace/annotate/host_phases.h"

namespace foretrace::trace {

/// The steps of every rank by start, degenerate ones marked.
[[nodiscard]] std::vector<StepWindow> find_steps(Attribution& attribution);

}  // namespace foretrace::trace
