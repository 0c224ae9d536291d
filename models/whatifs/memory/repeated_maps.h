// Feature maps that leave after the forward pass and are made again for the backward pass.
#pragma once

#include <cstddef>
#include <functional>
#include <set>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/tensors/saved_cut.h"
#include "models/editing/tensors/tensor_uses.h"
#include "sim/edit/tensors.h"

namespace foretrace::editing {

class RepeatedMaps {
 public:
  RepeatedMaps(KernelEditor& editor, const TensorUses& uses, const SavedCut& cut)
      : editor_(editor), uses_(uses), dropped_(cut.dropped.begin(), cut.dropped.end()) {}

  /// The map leaves after its last use of the forward pass. If only cheap operators of the backward
  /// read it, their fused kernels make it inside; else copies of the kernels that make it, and what
  /// these need, are put in front of the first reader.
  void make_again(TensorId tensor, TensorEditor& tensors,
                  const std::function<bool(const OperatorRun&)>& is_cheap);
  [[nodiscard]] std::size_t kernels() const { return kernels_; }

 private:
  struct Uses {
    std::uint32_t last_forward = TensorUses::no_run;
    std::uint32_t first_backward = TensorUses::no_run;
    bool cheap = true;  ///< all of the backward
  };
  [[nodiscard]] Uses uses_of(TensorId tensor,
                             const std::function<bool(const OperatorRun&)>& is_cheap) const;
  void repeat(TensorId tensor, TaskId anchor);

  KernelEditor& editor_;
  const TensorUses& uses_;
  std::set<TensorId> dropped_;
  std::set<std::uint32_t> done_;  // runs that are there again
  std::size_t kernels_ = 0;
};

}  // namespace foretrace::editing
