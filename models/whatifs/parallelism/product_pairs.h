// Products of a forward pass that tensor parallelism divides together: by columns, then by rows, so
// that one exchange per pair is enough.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/tensors/training_pass.h"

namespace foretrace::editing {

/// A product with a weight, by its place among the kernels of a pass.
struct LinearProduct {
  std::size_t at = 0;
  GemmShape shape;  ///< tokens x inputs times inputs x outputs
};
[[nodiscard]] std::vector<LinearProduct> linear_products(const KernelEditor& editor,
                                                         std::span<const TaskId> kernels);

inline constexpr std::size_t no_product = static_cast<std::size_t>(-1);

/// Indices of linear_products().
struct ProductPair {
  std::vector<std::size_t> columns;    ///< side by side: query, key and value; gate and up
  std::size_t rows = no_product;       ///< none: logits, which no product follows
  std::size_t attention = no_product;  ///< kernel of the pass between them, if there is one
};

/// In the order of the pass. Around attention: products of its input, and the one behind it;
/// elsewhere: products whose result the next one reads. The last widest product of all is the
/// logits' if it is wider than its input by far.
[[nodiscard]] std::vector<ProductPair> find_pairs(const KernelEditor& editor,
                                                  const TrainingPass& pass,
                                                  std::span<const LinearProduct> products);

/// Products that undo one forward product: places in the backward pass.
struct UndoneProduct {
  std::size_t input = no_product;   ///< gradient of what it reads
  std::size_t weight = no_product;  ///< of its weight
  [[nodiscard]] std::size_t first() const { return std::min(input, weight); }
  [[nodiscard]] std::size_t last() const {
    if (input == no_product) return weight;
    return weight == no_product ? input : std::max(input, weight);
  }
  [[nodiscard]] bool known() const { return first() != no_product; }
};
/// One per forward product. They are undone from the last to the first, by products of the same
/// three sizes.
[[nodiscard]] std::vector<UndoneProduct> undone_by(std::span<const LinearProduct> forward,
                                                   std::span<const LinearProduct> backward);

}  // namespace foretrace::editing
