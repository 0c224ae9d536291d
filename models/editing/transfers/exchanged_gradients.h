// How many numbers the gradients of a model are, by what its ranks exchange.
#pragma once

#include "models/editing/kernels/kernel_editor.h"

namespace foretrace::editing {

/// Numbers that a rank gives to all-reduces and reduce-scatters in one step, by recorded sizes; of
/// the step with most. Small ones are norms and losses; groups that split layers add up
/// activations. 0: no sizes are recorded.
[[nodiscard]] double exchanged_gradients(const KernelEditor& editor);

}  // namespace foretrace::editing
