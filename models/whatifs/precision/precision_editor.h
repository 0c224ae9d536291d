// Runs a recording in a lower precision: kernel by kernel, with casts, loss scaling and memory.
#pragma once

#include "models/editing/kernels/precision_choice.h"
#include "models/whatifs/what_if.h"

namespace foretrace::editing {

/// no_match, with the shares of the device time, if no kernel changes.
[[nodiscard]] Result<Change> lower_precision(const WhatIfInput& scenario,
                                             const PrecisionChoice& choice);

}  // namespace foretrace::editing
