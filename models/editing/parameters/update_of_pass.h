// The update of each pass: its kernels, and which passes have none and leave their gradients to the
// next one.
#pragma once

#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/tensors/training_pass.h"

namespace foretrace::editing {

struct UpdateOfPass {
  std::vector<TaskId> kernels;  ///< in program order; of the device of the pass
  TaskId next = none<TaskId>;   ///< first forward kernel of the device's next pass; none: the last
};

/// Per pass: update kernels between its first backward kernel, since an optimizer may run inside
/// the backward pass, and the first one of the next pass of its device.
[[nodiscard]] std::vector<UpdateOfPass> updates_of_passes(const KernelEditor& editor,
                                                          const std::vector<TrainingPass>& passes);

/// True if any update kernel is recorded.
[[nodiscard]] bool records_update(const KernelEditor& editor);

/// Per pass: whether it has an update. Gradients of a pass without one are added up with the next
/// pass's (gradient accumulation). True of the last pass of a device, and of all where no update is
/// recorded.
[[nodiscard]] std::vector<bool> followed_by_update(const KernelEditor& editor,
                                                   const std::vector<TrainingPass>& passes);

}  // namespace foretrace::editing
