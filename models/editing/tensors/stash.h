// Feature maps that the forward pass leaves for the backward pass, with where they are made and
// used.
#pragma once

#include <cstddef>
#include <vector>

#include "models/editing/tensors/training_pass.h"

namespace foretrace::editing {

struct Stash {
  double bytes = 0;
  std::size_t made = 0;             ///< index of the forward kernel that writes it
  std::size_t last_use = 0;         ///< index of its last known use in the forward pass
  TaskId needed_by = none<TaskId>;  ///< the backward kernel that reads it
  /// Index of GraphContext::tensors; none if it is known from shapes only.
  std::size_t tensor = no_tensor;
  static constexpr std::size_t no_tensor = static_cast<std::size_t>(-1);
  [[nodiscard]] bool recorded() const { return tensor != no_tensor; }
};

/// Recorded tensors of at least `least_bytes` that are allocated in the forward and freed in the
/// backward pass; without recorded tensors the activations that matrix products and convolutions
/// read, by shapes. In the order in which they are made.
[[nodiscard]] std::vector<Stash> find_stashes(const KernelEditor& editor, const TrainingPass& pass,
                                              double least_bytes);

}  // namespace foretrace::editing
