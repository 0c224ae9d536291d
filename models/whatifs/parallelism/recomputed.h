// Forward kernels that run again in the backward pass, as activation checkpointing puts them there.
#pragma once

#include <cstddef>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/tensors/training_pass.h"

namespace foretrace::editing {

struct Recomputed {
  std::size_t forward = 0;  ///< place in the forward pass of what runs again
  TaskId copy{};
};

/// Kernels of the backward pass that a what-if put there (see KernelEditor::copy), each with the
/// forward kernel that it repeats: copies do the same work, in runs in the order of the forward
/// pass.
[[nodiscard]] std::vector<Recomputed> recomputed_kernels(const KernelEditor& editor,
                                                         const TrainingPass& pass);

/// The pass without them.
[[nodiscard]] TrainingPass without_recomputed(const TrainingPass& pass,
                                              const std::vector<Recomputed>& again);

}  // namespace foretrace::editing
