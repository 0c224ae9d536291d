// Pipeline parallelism of a recorded run: its program on the ranks of several stages.
#pragma once

#include "models/editing/what_if_input.h"
#include "models/jobs/recordings/spread_program.h"
#include "models/whatifs/parallelism/tensor_split.h"
#include "sim/graph/change.h"

namespace foretrace::editing {

/// The recorded rank becomes stage 0, the others lie behind it. Of `spread`, plan, schedule, sizes
/// and cluster are given. Errors: those of split_tensors() and spread_program().
[[nodiscard]] Result<Change> staged_run(const WhatIfInput& input, SpreadOptions spread,
                                        const TensorOptions& tensor);

}  // namespace foretrace::editing
