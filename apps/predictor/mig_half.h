// Half of a device by MIG (Multi-Instance GPU): two jobs have one each.
#pragma once

#include <optional>

#include "models/hardware/catalogue/accelerator.h"

namespace foretrace {

/// Shares of the device that the largest profile has of which two fit.
struct MigHalf {
  double compute = 0;       ///< of the multiprocessors
  double memory = 0;        ///< of the memory and its bandwidth
  bool is_assumed = false;  ///< `compute` is the share of slices: the product's count is not known
};

/// None: the device has no MIG, or is not known to have it.
[[nodiscard]] std::optional<MigHalf> mig_half(const Accelerator& accelerator);

}  // namespace foretrace
