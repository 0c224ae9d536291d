// Which passes an update follows: the others leave their gradients to the next pass.
#pragma once

#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/tensors/training_pass.h"

namespace foretrace::editing {

/// Per pass: whether an update comes after it, before the next pass of its device. Gradients of a
/// pass without one are added up with the next pass's (gradient accumulation). True of the last
/// pass, and of all where no update is recorded.
[[nodiscard]] std::vector<bool> followed_by_update(const KernelEditor& editor,
                                                   const std::vector<TrainingPass>& passes);

}  // namespace foretrace::editing
