// Kernel by kernel: what was predicted for another accelerator against what was measured on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/session/recording/load.h"
#include "models/hardware/catalogue/operator_fit.h"
#include "models/whatifs/what_if_spec.h"
#include "sim/core/result.h"

namespace foretrace {

/// Kernels of one class that belong to the same operators with the same shapes in both recordings.
struct KernelErrorRow {
  std::string kernel_class;  ///< "all" in the last row
  std::size_t kernels = 0;
  std::int64_t before_ns = 0;
  std::int64_t predicted_ns = 0;
  std::int64_t measured_ns = 0;
  ErrorSummary predicted;  ///< one value per operator and shapes: total predicted / measured - 1
  ErrorSummary bandwidth;  ///< the same if every kernel followed the memory bandwidth
};

struct KernelErrors {
  std::vector<KernelErrorRow> rows;
  double matched_share = 0;  ///< of the kernel time of the changed recording
};

/// Matches kernels by operator and shapes, where both recordings have equally many; the others
/// (another library splits the work into other kernels) are left out and show in matched_share.
[[nodiscard]] Result<KernelErrors> kernel_errors(const Recording& base, const Recording& changed,
                                                 const WhatIf& swap);

}  // namespace foretrace
