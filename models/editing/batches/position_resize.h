// How a transformer's work grows with its positions: rows follow them, attention their pairs.
#pragma once

#include <cstdint>
#include <set>

#include "models/editing/batches/batch_resize.h"
#include "models/editing/batches/copy_resize.h"
#include "models/editing/kernels/kernel_editor.h"
#include "sim/edit/tensors.h"

namespace foretrace::editing {

/// New amounts / recorded ones.
struct PositionFactors {
  double rows = 1;          ///< positions that are computed
  double fused_pairs = 1;   ///< pairs of positions in fused attention kernels
  double single_pairs = 1;  ///< pairs in attention of single operators, and what these keep
};

class PositionResizer {
 public:
  /// Finds the attention. Error: no_match without any, or where one position is decoded at a time.
  [[nodiscard]] static Result<PositionResizer> make(KernelEditor& editor);

  /// Forward and backward kernels, copies, and transfers of activations.
  [[nodiscard]] Status resize(const PositionFactors& factors);
  void resize_memory(TensorEditor& tensors, const PositionFactors& factors) const;

  [[nodiscard]] std::int64_t attention_ns() const { return attention_ns_; }  ///< as recorded
  [[nodiscard]] bool has_fused() const { return !fused_.empty(); }
  [[nodiscard]] bool has_single() const { return !single_.empty(); }
  [[nodiscard]] const ResizedCopies& copies() const { return copies_; }
  void say_unknown(Change& change) const { time_.say_unknown(change); }
  [[nodiscard]] std::size_t transfers() const { return transfers_; }

 private:
  explicit PositionResizer(KernelEditor& editor) : editor_(&editor) {}
  [[nodiscard]] KernelWork lengthened(TaskId kernel, const BatchResizer& rows, double factor) const;
  KernelEditor* editor_;
  std::set<TaskId> fused_;
  std::set<TaskId> single_;     // from the scores to the product with the values
  std::set<TaskId> scores_;     // all of these but the last product
  std::int64_t positions_ = 0;  // of a sample; 0: shapes do not tell
  GrowthTimes time_;
  ResizedCopies copies_;
  std::int64_t attention_ns_ = 0;
  std::size_t transfers_ = 0;
};

}  // namespace foretrace::editing
