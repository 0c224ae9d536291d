// What an accelerator sustains per class of kernel, and how far that may be off.
#pragma once

#include "models/hardware/catalogue/accelerator.h"
#include "models/hardware/kernels/kernel_class.h"

namespace foretrace {

/// True for precisions of matrix units, whose power lowers the clock of long runs.
[[nodiscard]] bool uses_matrix_units(Precision precision);
/// Factor of the rates in the accelerator's file: its typical sustained clock, or 1.
[[nodiscard]] double clock_factor(const Accelerator& accelerator, Precision precision);

/// FLOP/s of large products of this class in long runs; 0 if the product has no such units.
[[nodiscard]] double sustained_rate(const Accelerator& accelerator, Precision precision,
                                    KernelClass kernel_class);

/// Achieved share of the memory bandwidth.
[[nodiscard]] double bandwidth_share(KernelClass kernel_class);
/// The same on this accelerator, where it was measured.
[[nodiscard]] double bandwidth_share(const Accelerator& accelerator, KernelClass kernel_class);
/// B/s that kernels of this class reach which wait for memory.
[[nodiscard]] double memory_rate(const Accelerator& accelerator, KernelClass kernel_class);

/// Device time of a kernel of this class that has next to nothing to do, in ns.
[[nodiscard]] double shortest_kernel_ns(KernelClass kernel_class);
/// The same on this accelerator, where it was measured.
[[nodiscard]] double shortest_kernel_ns(const Accelerator& accelerator, KernelClass kernel_class);

/// Bounds of a prediction as factors of it.
struct Spread {
  double low = 1;
  double high = 1;
};
/// How far scaled durations of many kernels of a class are off as a whole (not each of them).
[[nodiscard]] Spread class_spread(KernelClass kernel_class);
/// The same on an accelerator: products as far as the sustained clock may be off.
[[nodiscard]] Spread class_spread(KernelClass kernel_class, const Accelerator& accelerator,
                                  Precision precision);

}  // namespace foretrace
