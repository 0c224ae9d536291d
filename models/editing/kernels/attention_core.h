// The core of attention as operators: scores, softmax, weighted values, forward and backward.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "sim/edit/tensors.h"

namespace foretrace::editing {

/// Kernels from the product of the scores to the product with the values, next to each other on a
/// stream; backward: from the gradient of the values to that of the keys.
struct AttentionCore {
  std::vector<TaskId> kernels;  ///< in stream order, with the copies and sets between them
  std::vector<TaskId> sets;     ///< before these: of memory for the first product
  bool backward = false;
  std::int64_t products_ns = 0;  ///< of its matrix products
  /// batch x heads products of [queries, width] x [width, keys]; nothing if shapes are not known.
  std::optional<GemmShape> scores;
};

/// Every softmax between batched matrix products, in program order. Between them only pointwise
/// kernels, casts, copies on the device, sets and reductions may stand.
[[nodiscard]] std::vector<AttentionCore> find_attention_cores(const KernelEditor& editor);

/// One kernel instead of a core and its sets; none as KernelEditor::replace says.
/// What one kernel instead does; without shapes where the scores' are not recorded.
[[nodiscard]] KernelWork core_work(const KernelEditor& editor, const AttentionCore& core);

TaskId replace_core(KernelEditor& editor, const AttentionCore& core, const ExtraKernel& extra);

/// Cores that became one kernel each, and what is no longer kept.
class FusedCores {
 public:
  void add(const KernelEditor& editor, const AttentionCore& core);
  /// What is allocated for any kernel but the last is scores, probabilities or masks: forward only,
  /// since the order of the gradients is not known.
  void drop_scores(const KernelEditor& editor, TensorEditor& tensors) const;

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t with_shapes() const { return with_shapes_; }
  /// Probabilities of the forward passes, by shapes.
  [[nodiscard]] double kept_bytes() const { return kept_bytes_; }

 private:
  std::set<TaskId> inner_calls_;
  std::size_t count_ = 0;
  std::size_t with_shapes_ = 0;
  double kept_bytes_ = 0;
};

}  // namespace foretrace::editing
