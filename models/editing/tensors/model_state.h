// The state of training on one device: how many parameters, and what the optimizer keeps of each.
#pragma once

#include <cstddef>
#include <map>
#include <string>
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
  double bytes = 4;         ///< of a number of a parameter and of its gradient: parameter_bytes()
};
/// Of a number of a parameter: 2 where most of the update's device time works on numbers of 16 bit,
/// as in a model that was cast as a whole; else 4. Under autocast parameters, and what the update
/// works on, stay in fp32.
[[nodiscard]] double parameter_bytes(const KernelEditor& editor);

/// By device. What one update of the optimizer touches, all its runs of kernels together, or the
/// gradients that ranks exchange for one, whichever is more: an update may touch a rank's share
/// only, small exchanges are left out. Where that is less than half of what else is recorded, it
/// shows a part only (compiled kernels, tables that are not exchanged), and it is the larger of
/// recorded weights, of parameter_bytes() each, and weights that a forward pass reads. Up to half,
/// since a weight that two layers share is read twice. Devices of which nothing tells are left out.
[[nodiscard]] std::map<DeviceOfRank, ParameterCount> parameter_counts(const KernelEditor& editor);
/// Of the device with most.
[[nodiscard]] ParameterCount parameter_count(const KernelEditor& editor);

struct OptimizerStates {
  double bytes = 0;                ///< per parameter, of states in fp32
  std::string_view evidence = {};  ///< "Adam, by the operators of its update"
};
/// By the operators of the update, else by the name of the optimizer in the regions of the trace;
/// where neither tells, Adam is assumed.
[[nodiscard]] OptimizerStates optimizer_states(const KernelEditor& editor);
/// A note for what-ifs that move or shrink states: "; the known memory holds no optimizer states,
/// ..." where tensors are known and none of them is a state; else nothing.
[[nodiscard]] std::string without_states(const KernelEditor& editor);

}  // namespace foretrace::editing
