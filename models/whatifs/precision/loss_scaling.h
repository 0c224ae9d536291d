// Dynamic loss scaling: before every update all gradients are divided by the scale and checked.
#pragma once

#include <string>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/kernels/precision_choice.h"
#include "sim/core/result.h"

namespace foretrace::editing {

/// Inserts before the first kernel of every update a pass over the gradients with its launch, and a
/// host task that reads back whether one is infinite. Returns a sentence for the notes;
/// missing_cost if the number of gradients is not known and choice.needs_scaling.
[[nodiscard]] Result<std::string> insert_loss_scaling(KernelEditor& editor,
                                                      const PrecisionChoice& choice);

}  // namespace foretrace::editing
