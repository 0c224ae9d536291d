// The layers of a recorded model: which kernels of a pass belong to each, forward and backward.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/tensors/training_pass.h"
#include "sim/core/result.h"

namespace foretrace::editing {

/// A run of forward kernels and the backward kernels that undo it.
struct PassLayer {
  std::vector<TaskId> forward;
  std::vector<TaskId> backward;  ///< empty for inference
  double parameters = 0;         ///< numbers in the weights that it reads; 0: none, or not recorded
  double trained = 0;            ///< of them, those that get gradients
};

/// How layers were told from each other.
enum class LayerEvidence : std::uint8_t {
  modules,  ///< children of the module that holds most of the forward pass
  repeats,  ///< runs of products with weights of the same sizes
  weights,  ///< products with weights; residual blocks where there are any
  parts     ///< parts of equal time, as many as the user asks for
};
[[nodiscard]] std::string_view to_string(LayerEvidence evidence);

/// All kernels of a pass, in the order of the forward pass: what lies before the first layer is one
/// of its own, what lies between two belongs to the one before.
struct PassLayers {
  std::vector<PassLayer> list;
  LayerEvidence evidence = LayerEvidence::modules;
};

/// `count` > 0: parts of equal time, as many. Error: no_match where nothing tells the layers.
[[nodiscard]] Result<PassLayers> find_layers(const KernelEditor& editor, const TrainingPass& pass,
                                             std::size_t count);

}  // namespace foretrace::editing
