// The memories of a device against what a rank of a job holds.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "models/jobs/program/estimate.h"
#include "models/jobs/program/job.h"

namespace foretrace {

/// One memory of a device, in bytes.
struct DeviceMemory {
  std::string_view name;  ///< "memory"; of a microcontroller "SRAM" and "flash"
  double need = 0;
  double has = 0;  ///< 0: not known, so that everything fits
  [[nodiscard]] bool fits() const { return has == 0 || need <= has; }
};

/// What a rank of this stage needs of each memory of its accelerator; the one it computes in first.
[[nodiscard]] std::vector<DeviceMemory> device_memories(const Job& job, const StageMemory& stage);
/// True if every stage fits into every memory.
[[nodiscard]] bool fits_device(const Job& job, std::span<const StageMemory> stages);

}  // namespace foretrace
