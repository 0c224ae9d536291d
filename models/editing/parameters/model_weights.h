// The parameters that a forward pass reads, tables included whose rows it picks.
#pragma once

#include <span>
#include <vector>

#include "models/editing/parameters/weight_uses.h"

namespace foretrace::editing {

/// Of a model of this many numbers; in the order of the kernels.
[[nodiscard]] std::vector<WeightUse> model_weights(const KernelEditor& editor,
                                                   std::span<const TaskId> forward, double numbers);

}  // namespace foretrace::editing
