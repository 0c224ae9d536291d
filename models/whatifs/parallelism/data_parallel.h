// Data parallelism put into the trace of one device: what the modelled job's ranks exchange goes
// beside the recorded layers.
#pragma once

#include <string>

#include "models/editing/kernels/kernel_editor.h"
#include "models/jobs/recordings/spread_program.h"

namespace foretrace::editing {

/// What was put in.
struct SpreadData {
  std::string note;
  double buffer_bytes = 0;  ///< that a rank holds besides parameters, gradients and states
};

/// `spread`: a plan without a pipeline. `bucket_view`: gradients live in the buckets, no copies.
/// Errors: no_match without a training step, or without layers where parameters are shared;
/// missing_cost if nothing tells how large gradients or parameters are.
[[nodiscard]] Result<SpreadData> spread_data(KernelEditor& editor, const SpreadOptions& spread,
                                             bool bucket_view);

}  // namespace foretrace::editing
