// Which kernel writes a recorded tensor: the trace tells the host task and the operator that asked
// for its memory.
#pragma once

#include <cstddef>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"

namespace foretrace::editing {

/// Per tensor of GraphContext::tensors, the kernel that writes it first: of those that its operator
/// launches right after the allocation the first product, or else the first one. Where an operator
/// called from there launches it, the kernel that is launched next. None for tensors from before
/// the window and where no such kernel follows.
[[nodiscard]] std::vector<TaskId> find_makers(const KernelEditor& editor);

/// True for what operators compute: activations, their gradients, and what is freed sooner.
[[nodiscard]] bool is_result(TensorCategory category);

/// True for tensors that hold integers or flags (indices of a pooling, masks of a dropout), or
/// statistics of a normalization: of several tensors that one call of an operator keeps, those that
/// are not its result. By tensor.
[[nodiscard]] std::vector<bool> find_side_results(const TaskGraph& graph);

}  // namespace foretrace::editing
