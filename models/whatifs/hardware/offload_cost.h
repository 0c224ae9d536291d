// What a recorded kernel takes on another device, by that device's own provider of costs, and what
// it needs from outside.
#pragma once

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/what_if_input.h"

namespace foretrace {

struct OffloadWork {
  Cost cost;
  double first_bytes = 0;  ///< the one operand that the chain before makes
  double other_bytes = 0;  ///< all other operands that do not lie on the device
  double output_bytes = 0;
};

/// The time by the device's execution model, or by the roofline of a GPU, in this precision
/// (unknown: as recorded). Errors: missing_cost where the kernel's shapes are not recorded;
/// unsupported where the device has no units for it.
[[nodiscard]] Result<OffloadWork> offload_work(const editing::KernelEditor& editor, TaskId kernel,
                                               const Accelerator& device, Precision precision);

}  // namespace foretrace
