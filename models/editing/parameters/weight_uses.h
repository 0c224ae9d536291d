// Parameter tensors that forward operators read, by recorded shapes.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"

namespace foretrace::editing {

/// Parameter tensors that a forward operator reads: sizes in numbers. Empty for operators without.
[[nodiscard]] std::vector<double> parameter_sizes(std::string_view operator_name,
                                                  const OperatorInputs& inputs);

/// The parameter tensors that one call of an operator reads, of some forward kernels.
struct WeightUse {
  std::size_t kernel = 0;  ///< its first kernel, as index among the kernels
  std::size_t last = 0;    ///< its last kernel
  std::vector<double> sizes;
};
[[nodiscard]] std::vector<WeightUse> weight_uses(const KernelEditor& editor,
                                                 std::span<const TaskId> forward);

/// Embedding tables that are looked up, and updated in the backward pass, by fused kernels of
/// FBGEMM: their optimizer is none of the model's.
struct FusedTables {
  double numbers = 0;
  double state_bytes = 0;  ///< of all: a state per number (Adagrad), two (Adam), else none
};
[[nodiscard]] FusedTables fused_tables(const KernelEditor& editor, std::span<const TaskId> forward);

}  // namespace foretrace::editing
