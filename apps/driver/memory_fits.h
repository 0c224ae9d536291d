// On which accelerators a run would have room.
#pragma once

#include <vector>

#include "apps/driver/memory_report.h"

namespace foretrace::driver {

/// Every accelerator of the configs, by capacity: the allocator is run with what the device leaves
/// to it. Workspaces of libraries are those of the recording.
[[nodiscard]] std::vector<MemoryFit> memory_fits(const MemoryInputs& inputs,
                                                 const MemoryReport& report);

}  // namespace foretrace::driver
