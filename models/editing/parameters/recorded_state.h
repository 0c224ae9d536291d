// What a recording tells of the state of training: how many parameters, how many bytes each, and
// what the optimizer keeps of them. What-ifs read model_state.h, where their edits are.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/tensors/training_pass.h"

namespace foretrace::editing {

/// Tensors of a model whose sizes are not known one by one.
inline constexpr std::size_t unknown_tensors = 64;
/// What is found of a count is believed to be all of it if no more than this share is missing.
inline constexpr double count_agreement = 0.02;

struct ParameterCount {
  double numbers = 0;              ///< of the model that the device works on; 0: nothing tells
  std::string_view evidence = {};  ///< "by the shapes of what one update touches"
  /// Of them, what the device keeps: a share, where ranks reduce-scatter their gradients.
  double held = 0;
  std::size_t tensors = 0;  ///< that one update touches; 0: not known
  double trained = 0;       ///< of the numbers, what gets a gradient
  double updated = 0;       ///< of what is held, what is trained
};

struct OptimizerStates {
  double bytes = 0;                ///< per parameter, of states in fp32
  std::string_view evidence = {};  ///< "Adam, by the operators of its update"
};

/// Of a number of a parameter: 2 where most of the update's device time works on numbers of 16 bit,
/// as in a model that was cast as a whole; else 4. Under autocast parameters, and what the update
/// works on, stay in fp32.
[[nodiscard]] double recorded_bytes(const KernelEditor& editor);

/// By device. What one update of the optimizer touches, all its runs of kernels together, or the
/// gradients that ranks exchange for one, whichever is more: an update may touch a rank's share
/// only, small exchanges are left out. Where that is less than half of what else is recorded, it
/// shows a part only (compiled kernels, tables that are not exchanged), and it is the larger of
/// recorded weights, of recorded_bytes() each, and weights that a forward pass reads. Up to half,
/// since a weight that two layers share is read twice. Devices of which nothing tells are left out.
[[nodiscard]] std::map<DeviceOfRank, ParameterCount> recorded_counts(const KernelEditor& editor);

/// By the operators of the update, else by the name of the optimizer in the regions of the trace;
/// where neither tells, Adam is assumed.
[[nodiscard]] OptimizerStates recorded_states(const KernelEditor& editor);

}  // namespace foretrace::editing
