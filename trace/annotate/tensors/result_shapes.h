// What tensors an operator makes, from the shapes of its arguments.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "trace/annotate/tensors/operator_arguments.h"

namespace foretrace::trace {

/// A call of an operator and what else the trace tells of it. Pointers may be null.
struct OperatorCall {
  std::string_view name{};
  const OperatorArguments* arguments = nullptr;
  /// Of the aten::convolution around it, whose arguments have one order for all libraries.
  const OperatorArguments* convolution = nullptr;
  /// Of the forward operator whose autograd node runs this call.
  const OperatorArguments* forward = nullptr;
  /// What the autograd node of this operator was given: as large as the operator's result.
  const TensorShape* gradient = nullptr;
};

/// The tensors that a call allocates and returns, its main result first; what a backward pass needs
/// besides (masks, indices, statistics) is among them. None where shapes do not tell: data decides
/// (nonzero), values were not recorded, or the operator is not known. Sources: signatures of
/// PyTorch's operators (native_functions.yaml).
[[nodiscard]] std::optional<std::vector<TensorShape>> result_shapes(const OperatorCall& call);

/// True for operators that write into an argument and return it: aten::add_, aten::_fused_adam_.
[[nodiscard]] bool works_in_place(std::string_view name);

/// True for operators whose backward pass reads their result, not their input (derivatives.yaml).
[[nodiscard]] bool saves_result(std::string_view name);

}  // namespace foretrace::trace
