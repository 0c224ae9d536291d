// Operators of a model in the words of a recording: what PyTorch would call the kernels that run
// them, with the shapes that it would record. What-ifs find their way by these.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/jobs/program/rank_program.h"

namespace foretrace {

/// One kernel of an operator.
struct RecordedWork {
  std::string kernel;              ///< its name, as configs/kernels know names
  std::string_view operator_name;  ///< "aten::mm"; lives as long as the program
  std::string shapes;              ///< of its inputs, as traces have them: "[[512, 64], [64, 8]]"
  std::string inputs;              ///< a letter each: n numbers, i indices, - neither
};

/// The kernels of a part of an operator, in the order in which they run: as many as `kernels` where
/// they are alike, else those that have a name of their own. `attention` is the fused version.
[[nodiscard]] std::vector<RecordedWork> recorded_works(const Operator& op, KernelPart part,
                                                       std::uint32_t kernels,
                                                       AttentionKernel attention);

/// What an optimizer step does to parameters of so many numbers: one kernel for lists of tensors,
/// or kernels number by number where the framework launches them for each tensor.
[[nodiscard]] std::vector<RecordedWork> update_works(double elements, const Framework& framework);

}  // namespace foretrace
