// What a lower precision does to recorded tensors: smaller results, copies of weights.
#pragma once

#include <string>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/kernels/precision_choice.h"

namespace foretrace::editing {

class PrecisionMemory {
 public:
  PrecisionMemory(KernelEditor& editor, const PrecisionChoice& choice);

  /// This share of what a kernel writes is now 16 bit.
  void shrink_results(TaskId kernel, double share);
  /// A copy of a weight lives from the call of this kernel to the end of the backward pass that
  /// follows, or of the step.
  void copy_weight(TaskId kernel, double bytes);

  /// Edits the table of parameters, and the tensors, if any are recorded; says so for the note.
  /// `all_fp32`: no product of the recording ran in 16 bit, so that its parameters are fp32.
  [[nodiscard]] std::string finish(bool all_fp32);

 private:
  void find_ends();
  void cast_parameters();

  KernelEditor& editor_;
  const PrecisionChoice& choice_;
  bool recorded_;
  std::vector<float> share_;  // per task: of the bytes of its results that stay
  std::vector<TaskId> end_;   // per task: call of the last kernel of its pass; empty: not yet found
  struct Copy {
    TaskId kernel{};
    double bytes = 0;
  };
  std::vector<Copy> copies_;
};

}  // namespace foretrace::editing
