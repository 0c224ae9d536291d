// What no kernel of a device is faster than.
#pragma once

#include <algorithm>

#include "models/hardware/catalogue/accelerator.h"

namespace foretrace {

/// Operations per second of the fastest units, which may leave out two numbers of four: no kernel
/// is faster, in whatever precision it really computes.
[[nodiscard]] inline double highest_rate(const Accelerator& accelerator) {
  constexpr double structured_sparsity = 2;
  const auto& peaks = accelerator.peak_flops;
  return structured_sparsity *
         std::max(accelerator.vector_fp32_flops, *std::max_element(peaks.begin(), peaks.end()));
}

}  // namespace foretrace
