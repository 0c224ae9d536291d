// Cuts layers into stages of a pipeline, so that the slowest stage is as fast as it can be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/jobs/recordings/recorded_layers.h"
#include "sim/core/result.h"

namespace foretrace::editing {

/// First layer of each stage; every stage has at least one of the layers, in order. Of equally good
/// cuts the one whose first stages hold most. At most as many stages as layers.
[[nodiscard]] std::vector<std::size_t> cut_stages(std::span<const std::int64_t> layer_ns,
                                                  std::size_t stages);

/// Kernels of one stage, of one micro-batch.
struct Stage {
  std::vector<TaskId> forward;
  std::vector<TaskId> backward;
  double parameters = 0;     ///< share of all
  double updated = 0;        ///< share of those that are trained
  double message_bytes = 0;  ///< what its first layer reads
  std::int64_t kernels_ns = 0;
};

/// `time_of`: of a kernel on its stage. Errors: no_match with fewer layers than stages,
/// missing_cost where nothing tells how large activations between stages are.
[[nodiscard]] Result<std::vector<Stage>> make_stages(
    const KernelEditor& editor, const PassLayers& layers, std::size_t count,
    const std::function<std::int64_t(TaskId)>& time_of);

}  // namespace foretrace::editing
