// Whether a changed run has room on the device that it runs on.
#pragma once

#include <string>

#include "apps/session/memory_need.h"
#include "apps/session/recording/recording.h"

namespace foretrace {

struct DeviceFit {
  MemoryTarget target;
  MemoryNeed need;
  /// A run that needs no more than the recorded one, on the recorded device, fits: it did.
  bool fits = true;
};

/// "does not fit: needs 36.6 GiB, has 24.0 GiB (rtx_4090)".
[[nodiscard]] std::string text_of_misfit(const DeviceFit& fit);

/// `before` is the need of the recorded run on the recorded device.
[[nodiscard]] DeviceFit fit_of(const Recording& recording, const MemoryNeed& before,
                               const Accelerator& accelerator, const MemoryNeed& need);

}  // namespace foretrace
