// What an accelerator sustains per class of kernel, and how far that may be off.
#pragma once

#include "models/accelerator.h"
#include "models/costs/kernel_class.h"

namespace foretrace {

/// FLOP/s of large products of this class in long runs; 0 if the product has no such units.
[[nodiscard]] double sustained_rate(const Accelerator& accelerator, Precision precision,
                                    KernelClass kernel_class);

/// Achieved share of the memory bandwidth.
[[nodiscard]] double bandwidth_share(KernelClass kernel_class);

/// Device time of a kernel of this class that has next to nothing to do, in ns.
[[nodiscard]] double shortest_kernel_ns(KernelClass kernel_class);

/// Bounds of a prediction as factors of it.
struct Spread {
  double low = 1;
  double high = 1;
};
/// How far scaled durations of many kernels of a class are off as a whole (not each of them).
[[nodiscard]] Spread class_spread(KernelClass kernel_class);

}  // namespace foretrace
