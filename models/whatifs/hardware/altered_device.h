// Kernels on the recorded accelerator with other figures: another clock, or a part of the device.
#pragma once

#include <cstdint>
#include <string>

#include "models/editing/what_if_input.h"
#include "models/hardware/costs/kernel_cost.h"
#include "sim/edit/editor.h"

namespace foretrace::editing {

struct AlteredDevice {
  Accelerator accelerator;
  /// Kernels of no more thread blocks than this keep their multiprocessors, of which each works as
  /// before: they keep their arithmetic rate. 0: none does.
  std::int64_t blocks_that_fit = 0;
};

struct AlteredTimes {
  std::int64_t before_ns = 0;
  std::int64_t after_ns = 0;
  std::size_t kernels = 0;
  std::size_t kept = 0;  ///< that have few blocks, or nothing to do with what changed
};

/// Gives every kernel and every copy and set within the device the time it takes there; measured
/// time x model time there / model time on `from`. Copies with the host, collectives and the host
/// stay. Errors: no_match without kernels, missing_cost.
[[nodiscard]] Result<AlteredTimes> run_on(Editor& editor, const Accelerator& from,
                                          const AlteredDevice& to);

/// "456 kernels 12.00 ms -> 15.10 ms, 30 of them as before".
[[nodiscard]] std::string to_text(const AlteredTimes& times);

}  // namespace foretrace::editing
