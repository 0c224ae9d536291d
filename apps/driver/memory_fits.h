// On which accelerators a run would have room.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/driver/memory_report.h"

namespace foretrace::driver {

/// Memory that the driver takes of a device, outside the allocator.
struct ContextBytes {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
/// By the profile that lists the accelerator; a usual context where none does.
[[nodiscard]] ContextBytes context_bytes_of(const std::string& accelerator);

/// Every accelerator of the configs, by capacity: the allocator is run with what the device leaves
/// to it. Workspaces of libraries are those of the recording.
[[nodiscard]] std::vector<MemoryFit> memory_fits(const MemoryInputs& inputs,
                                                 const MemoryReport& report);

}  // namespace foretrace::driver
