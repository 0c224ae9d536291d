#include "models/jobs/figures/device_memory.h"

#include <algorithm>

#include "models/hardware/execution/exec_model.h"

namespace foretrace {

std::vector<DeviceMemory> device_memories(const Job& job, const StageMemory& stage) {
  const Accelerator& accelerator = job.cluster->accelerator;
  const auto memory = static_cast<double>(accelerator.memory_bytes);
  const ExecModel* const model = accelerator.exec_model.get();
  if (model == nullptr) return {{"memory", stage.total(), memory}};
  const double taken = model->memory_taken();
  const double store = model->weight_store();
  if (!(store > 0)) return {{"memory", stage.total() + taken, memory}};
  return {{"SRAM", stage.total() - stage.weights + taken, memory},
          {"flash", stage.weights + model->store_taken(), store}};
}

bool fits_device(const Job& job, std::span<const StageMemory> stages) {
  return std::all_of(stages.begin(), stages.end(), [&](const StageMemory& stage) {
    const auto memories = device_memories(job, stage);
    return std::all_of(memories.begin(), memories.end(),
                       [](const DeviceMemory& memory) { return memory.fits(); });
  });
}

}  // namespace foretrace
