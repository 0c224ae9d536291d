// The state of training on one device: how many parameters, and what the optimizer keeps of each.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/tensors/training_pass.h"

namespace foretrace::editing {

struct ParameterCount {
  double numbers = 0;              ///< of the model that the device works on; 0: nothing tells
  std::string_view evidence = {};  ///< "by the shapes of what one update touches"
  /// Of them, what the device keeps: a share, where ranks reduce-scatter their gradients.
  double held = 0;
  std::size_t tensors = 0;  ///< that one update touches; 0: not known
};
/// By device. What one update of the optimizer touches, all its runs of kernels together, or the
/// gradients that ranks exchange for one, whichever is more: an update may touch a rank's share
/// only, small exchanges are left out. Where that is less than half of what else is recorded, it
/// shows a part only (compiled kernels, tables that are not exchanged), and it is the larger of
/// recorded weights, of 4 bytes each, and weights that a forward pass reads. Up to half, since a
/// weight that two layers share is read twice. Devices of which nothing tells are left out.
[[nodiscard]] std::map<DeviceOfRank, ParameterCount> parameter_counts(const KernelEditor& editor);
/// Of the device with most.
[[nodiscard]] ParameterCount parameter_count(const KernelEditor& editor);

struct OptimizerStates {
  double bytes = 0;                ///< per parameter
  std::string_view evidence = {};  ///< "Adam, by the operators of its update"
};
/// By the operators of the update, else by the name of the optimizer in the regions of the trace;
/// where neither tells, Adam is assumed.
[[nodiscard]] OptimizerStates optimizer_states(const KernelEditor& editor);

}  // namespace foretrace::editing
