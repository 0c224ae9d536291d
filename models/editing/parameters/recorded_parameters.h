// The table of parameters of a recording.
#pragma once

#include "models/editing/kernels/kernel_editor.h"
#include "sim/graph/parameters.h"

namespace foretrace::editing {

/// See parameters_of().
[[nodiscard]] ParameterTable recorded_parameters(const KernelEditor& editor);

}  // namespace foretrace::editing
