// The core of attention as operators: scores, softmax, weighted values, forward and backward.
#pragma once

#include <optional>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"

namespace foretrace::editing {

/// Kernels from the product of the scores to the product with the values, next to each other on a
/// stream; backward: from the gradient of the values to that of the keys.
struct AttentionCore {
  std::vector<TaskId> kernels;  ///< in stream order
  bool backward = false;
  std::int64_t products_ns = 0;  ///< of its matrix products
  /// batch x heads products of [queries, width] x [width, keys]; nothing if shapes are not known.
  std::optional<GemmShape> scores;
};

/// Every softmax between batched matrix products, in program order. Between them only pointwise
/// kernels, copies and reductions may stand.
[[nodiscard]] std::vector<AttentionCore> find_attention_cores(const KernelEditor& editor);

}  // namespace foretrace::editing
