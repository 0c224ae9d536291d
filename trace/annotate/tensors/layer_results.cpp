// Results of the layers of a model and of their gradients.
#include <algorithm>
#include <array>
#include <initializer_list>

#include "trace/annotate/tensors/result_formulas.h"

namespace foretrace::trace::results {
namespace {

Results like(const OperatorCall& call, std::initializer_list<std::size_t> arguments) {
  Shapes shapes;
  for (const std::size_t i : arguments) {
    if (const TensorShape* const shape = argument(call, i)) shapes.push_back(*shape);
  }
  if (shapes.empty()) return std::nullopt;
  return shapes;
}

/// [.., m, k] x [.., k, n]; `first` is the left factor, a tensor at `out` takes the result.
Results product(const OperatorCall& call, std::size_t first, std::size_t out) {
  const TensorShape* const a = argument(call, first);
  const TensorShape* const b = argument(call, first + 1);
  if (a == nullptr || b == nullptr || a->rank < 1) return std::nullopt;
  if (argument(call, out) != nullptr) return Shapes{};
  TensorShape result = *a;
  if (b->rank < 2) {
    --result.rank;
    return Shapes{result};
  }
  result.dims[result.rank - 1U] = b->dims[b->rank - 1U];
  return Shapes{result};
}

/// The input and `statistics` values per row; a row is what one weight covers.
Results row_norm(const OperatorCall& call, std::size_t statistics) {
  const TensorShape* const input = argument(call, 0);
  if (input == nullptr) return std::nullopt;
  std::int64_t row = 1;
  if (const auto sizes = call.arguments->numbers(1)) {
    for (const std::int64_t size : *sizes) row *= std::clamp<std::int64_t>(size, 1, 1 << 24);
  } else if (const TensorShape* const weight = argument(call, 2)) {
    row = weight->elements();
  }
  Shapes shapes{*input};
  const std::int64_t rows = input->elements() / std::max<std::int64_t>(1, row);
  shapes.resize(1 + statistics, make_shape({&rows, 1}, ElementType::f32));
  return shapes;
}
/// As large as an argument of the forward operator, whose size this call got as a plain list.
Results like_forward(const OperatorCall& call, std::size_t i) {
  const TensorShape* const shape = call.forward != nullptr ? call.forward->tensor(i) : nullptr;
  if (shape == nullptr) return std::nullopt;
  return Shapes{*shape};
}
}  // namespace

// ---- Products ----------------------------------------------------------------------------------

Results mm(const OperatorCall& call) { return product(call, 0, 2); }
Results addmm(const OperatorCall& call) { return product(call, 1, 5); }

Results linear(const OperatorCall& call) {
  const TensorShape* const input = argument(call, 0);
  const TensorShape* const weight = argument(call, 1);
  if (input == nullptr || weight == nullptr || input->rank < 1) return std::nullopt;
  TensorShape result = *input;
  result.dims[result.rank - 1U] = (*weight)[0];
  return Shapes{result};
}

// ---- Normalization, attention, losses ----------------------------------------------------------

/// The input and two statistics per channel, where it trains.
Results batch_norm(const OperatorCall& call) {
  const TensorShape* const input = argument(call, 0);
  if (input == nullptr || input->rank < 2) return std::nullopt;
  Shapes shapes{*input};
  if (call.arguments->flag(5).value_or(true)) {
    shapes.resize(3, make_shape({&input->dims[1], 1}, ElementType::f32));
  }
  return shapes;
}

Results layer_norm(const OperatorCall& call) { return row_norm(call, 2); }
Results rms_norm(const OperatorCall& call) { return row_norm(call, 1); }

Results group_norm(const OperatorCall& call) {
  const TensorShape* const input = argument(call, 0);
  if (input == nullptr) return std::nullopt;
  Shapes shapes{*input};
  const auto groups = call.arguments->numbers(6);
  if (groups && groups->size() == 1) {
    const std::array<std::int64_t, 2> sizes = {(*input)[0], groups->front()};
    shapes.resize(3, make_shape(sizes, input->type));
  }
  return shapes;
}

// (grad_out, input, ..) or (input, grad_out, weight, ..): gradients of input, weight and bias.
Results layer_norm_backward(const OperatorCall& call) { return like(call, {1, 5, 6}); }
Results group_norm_backward(const OperatorCall& call) { return like(call, {1, 4, 4}); }
Results rms_norm_backward(const OperatorCall& call) { return like(call, {1, 4}); }
Results batch_norm_backward(const OperatorCall& call) { return like(call, {1, 2, 2}); }
Results library_norm_backward(const OperatorCall& call) { return like(call, {0, 2, 2}); }

Results softmax(const OperatorCall& call) {
  const TensorShape* const input = argument(call, 0);
  if (input == nullptr) return std::nullopt;
  return Shapes{call.arguments->flag(2).value_or(false) ? input->as(ElementType::f32) : *input};
}

Results dropout(const OperatorCall& call) {
  const TensorShape* const input = argument(call, 0);
  if (input == nullptr) return std::nullopt;
  return Shapes{*input, input->as(ElementType::boolean)};
}

/// Queries are [batch, length, heads, head size].
Results attention(const OperatorCall& call) {
  const TensorShape* const query = argument(call, 0);
  const TensorShape* const value = argument(call, 2);
  if (query == nullptr || value == nullptr || query->rank != 4) return std::nullopt;
  TensorShape result = *query;
  result.dims[3] = (*value)[3];
  const std::array<std::int64_t, 3> sums = {(*query)[0], (*query)[2], (*query)[1]};
  return Shapes{result, make_shape(sums, ElementType::f32)};
}
Results attention_backward(const OperatorCall& call) { return like(call, {1, 2, 3}); }

Results loss(const OperatorCall& call) {
  const TensorShape* const input = argument(call, 0);
  if (input == nullptr) return std::nullopt;
  return Shapes{make_shape({}, input->type), make_shape({}, input->type)};
}

// ---- Gradients of convolutions and windows -----------------------------------------------------

/// (grad_out, input, weight, bias sizes, .., which are wanted).
Results convolution_backward(const OperatorCall& call) {
  const TensorShape* const input = argument(call, 1);
  const TensorShape* const weight = argument(call, 2);
  if (input == nullptr || weight == nullptr) return std::nullopt;
  std::array<bool, 3> wanted = {true, true, call.arguments->numbers(3).has_value()};
  if (call.arguments->values.size() > 10) {
    const auto mask = list_elements(call.arguments->values[10]);
    for (std::size_t i = 0; i < std::min<std::size_t>(3, mask.size()); ++i) {
      wanted[i] = mask[i] == "True" || mask[i] == "true" || mask[i] == "1";
    }
  }
  Shapes shapes;
  if (wanted[0]) shapes.push_back(*input);
  if (wanted[1]) shapes.push_back(*weight);
  if (wanted[2]) shapes.push_back(make_shape({weight->dims.data(), 1}, weight->type));
  return shapes;
}

Results input_gradient(const OperatorCall& call) { return like_forward(call, 0); }
Results weight_gradient(const OperatorCall& call) { return like_forward(call, 1); }

}  // namespace foretrace::trace::results
