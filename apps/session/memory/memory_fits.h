// On which accelerators a run would have room.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/session/memory/memory_report.h"

namespace foretrace {

/// Memory that the driver takes of a device, outside the allocator.
struct ContextBytes {
  std::int64_t low = 0;
  std::int64_t high = 0;
};
/// By its memory profile; a usual context where it has none.
[[nodiscard]] ContextBytes context_bytes_of(const Accelerator& accelerator);
/// A usual one: nothing is known of the accelerator.
[[nodiscard]] ContextBytes usual_context_bytes();

/// Every accelerator of the catalogue of the inputs, by capacity: the allocator is run with what
/// the device leaves to it. Workspaces of libraries are those of the recording.
[[nodiscard]] std::vector<MemoryFit> memory_fits(const MemoryInputs& inputs,
                                                 const MemoryReport& report);

}  // namespace foretrace
