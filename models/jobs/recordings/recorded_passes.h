// The training passes of a run with their layers and updates.
#pragma once

#include <cstddef>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/tensors/training_pass.h"
#include "models/jobs/recordings/recorded_layers.h"
#include "sim/core/result.h"

namespace foretrace {

struct RecordedPass {
  editing::TrainingPass kernels;
  Result<editing::PassLayers> layers;  ///< error: nothing tells them
  std::vector<TaskId> updates;         ///< kernels of the update that follows
  bool is_updated = true;              ///< false: gradients wait for a later pass
};

/// `layers` as in find_layers().
[[nodiscard]] std::vector<RecordedPass> recorded_passes(const editing::KernelEditor& editor,
                                                        std::size_t layers = 0);

}  // namespace foretrace
