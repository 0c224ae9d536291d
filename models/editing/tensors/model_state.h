// The state of training on one device: how many parameters, and what the optimizer keeps of each.
#pragma once

#include <string_view>

#include "models/editing/kernels/kernel_editor.h"

namespace foretrace::editing {

struct ParameterCount {
  double numbers = 0;              ///< 0: nothing tells
  std::string_view evidence = {};  ///< "shapes of what one update touches"
};
/// What one update of the optimizer touches, all its runs of kernels together. Where that is less
/// than half of what else is recorded, the update shows a part only (compiled kernels, a share of
/// every rank), and it is the larger of recorded weights, of 4 bytes each, and weights that a
/// forward pass reads. Up to half, since a weight that two layers share is read twice.
[[nodiscard]] ParameterCount parameter_count(const KernelEditor& editor);
struct OptimizerStates {
  double bytes = 0;                ///< per parameter
  std::string_view evidence = {};  ///< "Adam, by the operators of its update"
};
/// By the operators of the update, else by the name of the optimizer in the regions of the trace;
/// where neither tells, Adam is assumed.
[[nodiscard]] OptimizerStates optimizer_states(const KernelEditor& editor);

}  // namespace foretrace::editing
