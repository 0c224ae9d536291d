// Results by kind of operator; result_shapes knows which operator is of which kind.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/annotate/tensors/operator_arguments.h"
#include "trace/annotate/tensors/result_shapes.h"

namespace foretrace::trace::results {

using Shapes = std::vector<TensorShape>;
using Results = std::optional<Shapes>;

/// The i-th argument of a call, if it is a tensor; null otherwise.
[[nodiscard]] inline const TensorShape* argument(const OperatorCall& call, std::size_t i) {
  return call.arguments->tensor(i);
}

// Layers of a model and their gradients: products, normalization, attention, losses, convolution.
[[nodiscard]] Results mm(const OperatorCall& call);
[[nodiscard]] Results addmm(const OperatorCall& call);
[[nodiscard]] Results linear(const OperatorCall& call);
[[nodiscard]] Results batch_norm(const OperatorCall& call);
[[nodiscard]] Results layer_norm(const OperatorCall& call);
[[nodiscard]] Results rms_norm(const OperatorCall& call);
[[nodiscard]] Results group_norm(const OperatorCall& call);
[[nodiscard]] Results layer_norm_backward(const OperatorCall& call);
[[nodiscard]] Results group_norm_backward(const OperatorCall& call);
[[nodiscard]] Results rms_norm_backward(const OperatorCall& call);
[[nodiscard]] Results batch_norm_backward(const OperatorCall& call);
[[nodiscard]] Results library_norm_backward(const OperatorCall& call);
[[nodiscard]] Results softmax(const OperatorCall& call);
[[nodiscard]] Results dropout(const OperatorCall& call);
[[nodiscard]] Results attention(const OperatorCall& call);
[[nodiscard]] Results attention_backward(const OperatorCall& call);
[[nodiscard]] Results loss(const OperatorCall& call);
[[nodiscard]] Results convolution_backward(const OperatorCall& call);
[[nodiscard]] Results input_gradient(const OperatorCall& call);
[[nodiscard]] Results weight_gradient(const OperatorCall& call);

// Everything that reduces, moves or maps elements.
/// Of aten::sum and its kind; `is_reduction` tells them.
[[nodiscard]] bool is_reduction(std::string_view name);
[[nodiscard]] Results reduction(const OperatorCall& call);
[[nodiscard]] Results concatenation(const OperatorCall& call);
[[nodiscard]] Results index_select(const OperatorCall& call);
[[nodiscard]] Results embedding(const OperatorCall& call);
[[nodiscard]] Results embedding_backward(const OperatorCall& call);
[[nodiscard]] Results gather(const OperatorCall& call);
[[nodiscard]] Results sort(const OperatorCall& call);
[[nodiscard]] Results elementwise(const OperatorCall& call);
[[nodiscard]] Results comparison(const OperatorCall& call);
[[nodiscard]] Results where(const OperatorCall& call);
[[nodiscard]] Results elementwise_backward(const OperatorCall& call);
[[nodiscard]] Results list(const OperatorCall& call);
[[nodiscard]] Results nothing(const OperatorCall& call);

}  // namespace foretrace::trace::results
