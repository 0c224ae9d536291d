// Which kernels belong to one call of an operator: a convolution between Fourier transforms is five
// kernels, a product with a split sum two.
#pragma once

#include <span>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"

namespace foretrace::editing {

/// Kernels of one call: launched by one thread one after the other, of one operator and the same
/// recorded shapes. A call has one product, but for those inside a convolution, with what scales or
/// sums up beside it; lookups are of one kernel each. Kernels without recorded shapes are calls of
/// their own.
class KernelCalls {
 public:
  /// `kernels`: in program order; those of other threads and streams may stand between.
  KernelCalls(const KernelEditor& editor, std::span<const TaskId> kernels);

  /// In the order of their first kernels; each in program order.
  [[nodiscard]] const std::vector<std::vector<TaskId>>& list() const { return calls_; }
  /// The first kernel of the call of one of the kernels.
  [[nodiscard]] TaskId first_of(TaskId kernel) const { return first_[index(kernel)]; }

 private:
  std::vector<std::vector<TaskId>> calls_;
  std::vector<TaskId> first_;  // per task, of its call
};

}  // namespace foretrace::editing
