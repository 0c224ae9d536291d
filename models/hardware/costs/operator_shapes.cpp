// Work of the operators of PyTorch by name; what is not listed is not known.
#include "models/hardware/costs/operator_shapes.h"

#include <algorithm>

#include "models/hardware/costs/attention_shape.h"

namespace foretrace {

double element_count(const Dims& dims) {
  double product = 1;
  for (const std::int64_t size : dims) product *= static_cast<double>(size);
  return product;
}

namespace {

double size_at(const Dims& dims, std::size_t i) { return static_cast<double>(dims[i]); }

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// [m, k] x [k, n], the last two of the inputs that are shapes of `rank` dims.
std::optional<GemmShape> product_of(const Dims* a, const Dims* b) {
  if (a == nullptr || b == nullptr || a->size() != b->size()) return std::nullopt;
  if (a->size() == 2 && a->at(1) == b->at(0)) {
    return GemmShape{1, size_at(*a, 0), size_at(*b, 1), size_at(*a, 1)};
  }
  if (a->size() == 3 && a->at(0) == b->at(0) && a->at(2) == b->at(1)) {
    return GemmShape{size_at(*a, 0), size_at(*a, 1), size_at(*b, 2), size_at(*a, 2)};
  }
  return std::nullopt;
}

std::optional<GemmShape> gemm_of(std::string_view name, const OperatorInputs& inputs) {
  if (is_one_of(name, {"aten::mm", "aten::bmm", "aten::_scaled_mm", "dot_general"})) {
    return product_of(inputs.shape(0), inputs.shape(1));
  }
  if (is_one_of(name,
                {"aten::addmm", "aten::addmm_", "aten::baddbmm", "aten::_addmm_activation"})) {
    return product_of(inputs.shape(1), inputs.shape(2));
  }
  const Dims* x = inputs.shape(0);
  const Dims* w = inputs.shape(1);
  if (name == "aten::linear" && x != nullptr && w != nullptr && w->size() == 2 && !x->empty() &&
      x->back() == w->at(1)) {
    const auto k = static_cast<double>(x->back());
    return GemmShape{1, element_count(*x) / std::max(k, 1.0), size_at(*w, 0), k};
  }
  return std::nullopt;
}

double pixels(const Dims& dims) {
  double product = 1;
  for (std::size_t i = 2; i < dims.size(); ++i) product *= size_at(dims, i);
  return product;
}

// [N, C, ...] * [K, C/g, ...] -> [N, K, ...].
WorkAmount convolution_of(const Dims& input, const Dims& weight, const Dims& output) {
  const bool fits = input.size() >= 3 && weight.size() == input.size() &&
                    output.size() == input.size() && weight[0] == output[1] &&
                    input[0] == output[0] && weight[1] > 0 && input[1] % weight[1] == 0;
  if (!fits) return {};
  return convolution_work({.batch = size_at(input, 0),
                           .input_channels = size_at(input, 1),
                           .output_channels = size_at(weight, 0),
                           .groups = size_at(input, 1) / size_at(weight, 1),
                           .input_pixels = pixels(input),
                           .output_pixels = pixels(output),
                           .kernel_pixels = pixels(weight)});
}

// Backward of a convolution with respect to its input: the gradient [N, K, P, Q] and the weight
// [K, C/g, R, S] give the work.
WorkAmount convolution_amount(std::string_view name, const OperatorInputs& inputs) {
  if (name == "conv_general_dilated") {  // XLA's, with its output
    const Dims* input = inputs.shape(0);
    const Dims* weight = inputs.shape(1);
    const Dims* output = inputs.shape(2);
    if (input == nullptr || weight == nullptr || output == nullptr) return {};
    return convolution_of(*input, *weight, *output);
  }
  if (name == "aten::convolution_backward") {
    const Dims* gradient = inputs.shape(0);
    const Dims* input = inputs.shape(1);
    const Dims* weight = inputs.shape(2);
    if (gradient == nullptr || input == nullptr || weight == nullptr) return {};
    return convolution_of(*input, *weight, *gradient);
  }
  if (!is_one_of(name, {"aten::cudnn_convolution_backward_input",
                        "aten::miopen_convolution_backward_input"})) {
    return {};
  }
  const Dims* gradient = inputs.shape(1);
  const Dims* weight = inputs.shape(2);
  if (gradient == nullptr || weight == nullptr || gradient->size() < 3 ||
      weight->size() != gradient->size() || weight->at(0) != gradient->at(1)) {
    return {};
  }
  // The input is not among the inputs; groups cancel, and as many pixels as in the gradient count.
  return convolution_work({.batch = size_at(*gradient, 0),
                           .input_channels = size_at(*weight, 1),
                           .output_channels = size_at(*weight, 0),
                           .input_pixels = pixels(*gradient),
                           .output_pixels = pixels(*gradient),
                           .kernel_pixels = pixels(*weight)});
}

WorkAmount attention_amount(std::string_view name, const OperatorInputs& inputs) {
  const auto shape = attention_shape_of(name, inputs);
  if (!shape) return {};
  const bool backward = name.find("backward") != std::string_view::npos;
  return attention_work(*shape, backward ? Direction::backward : Direction::forward);
}

// Reductions of rows and other operators with fitted constants.
std::optional<WorkAmount> row_amount(std::string_view name, const OperatorInputs& inputs) {
  const Dims* x = inputs.shape(0);
  if (x == nullptr || x->empty()) return std::nullopt;
  const auto by_rows = [&](OperatorKind kind, double columns) -> std::optional<WorkAmount> {
    if (!(columns > 0)) return std::nullopt;
    return row_work(kind, element_count(*x) / columns, columns, Direction::forward);
  };
  const double last = size_at(*x, x->size() - 1);
  if (name == "aten::_softmax" || name == "aten::_log_softmax") {
    return by_rows(OperatorKind::softmax, last);  // of the last dimension, as in all models seen
  }
  if (name == "aten::native_layer_norm") {
    const Dims* weight = inputs.shape(2);
    return by_rows(OperatorKind::layer_norm, weight == nullptr ? last : element_count(*weight));
  }
  if (name == "aten::_fused_rms_norm" || name == "aten::rms_norm") {
    return by_rows(OperatorKind::rms_norm, last);
  }
  if (name == "aten::gelu") return by_rows(OperatorKind::gelu, last);
  return std::nullopt;
}

// Rows of a table by index: aten::embedding(weight, indices), aten::index_select(self, dim, index).
WorkAmount gather_amount(std::string_view name, const OperatorInputs& inputs) {
  const Dims* table = inputs.shape(0);
  const Dims* indices = inputs.shape(name == "aten::index_select" ? 2 : 1);
  if (name == "aten::embedding_dense_backward") {  // (gradient, indices, ...)
    if (table == nullptr || indices == nullptr || element_count(*indices) <= 0) return {};
    return embedding_work(element_count(*indices), element_count(*table) / element_count(*indices));
  }
  if (!is_one_of(name, {"aten::embedding", "aten::index_select", "aten::embedding_bag",
                        "aten::_embedding_bag"})) {
    return {};
  }
  if (table == nullptr || indices == nullptr || table->size() != 2) return {};
  return embedding_work(element_count(*indices), size_at(*table, 1));
}

// Fused updates of lists of tensors: (parameters, gradients, states...).
WorkAmount update_amount(std::string_view name, const OperatorInputs& inputs) {
  const auto numbers_of = [&](std::size_t i) {
    double sum = 0;
    if (i < inputs.tensors.size()) {
      for (const Dims& dims : inputs.tensors[i]) sum += element_count(dims);
    }
    return sum;
  };
  const double parameters = numbers_of(0);
  if (!(parameters > 0)) return {};
  if (is_one_of(name, {"aten::_fused_adam_", "aten::_fused_adamw_"})) {
    return update_work(UpdateRule::adam, parameters);
  }
  if (name == "aten::_fused_sgd_") {
    const bool momentum = numbers_of(2) > 0;
    return update_work(momentum ? UpdateRule::sgd_momentum : UpdateRule::sgd, parameters);
  }
  // aten::_foreach_add_ and the like read every list and write one.
  if (!name.starts_with("aten::_foreach_")) return {};
  double read = 0;
  for (std::size_t i = 0; i < inputs.tensors.size(); ++i) read += numbers_of(i);
  return elementwise_work(parameters, read / parameters, 1);
}

}  // namespace

const Dims* OperatorInputs::shape(std::size_t i) const {
  if (i >= tensors.size() || tensors[i].size() != 1) return nullptr;
  return &tensors[i].front();
}

WorkAmount amount_of(std::string_view operator_name, const OperatorInputs& inputs,
                     KernelClass kernel_class) {
  if (inputs.tensors.empty()) return {};
  switch (kernel_class) {
    case KernelClass::gemm: {
      const auto shape = gemm_of(operator_name, inputs);
      return shape && shape->flops() > 0 ? gemm_work(*shape) : WorkAmount{};
    }
    case KernelClass::convolution: return convolution_amount(operator_name, inputs);
    case KernelClass::attention: return attention_amount(operator_name, inputs);
    case KernelClass::normalization:
    case KernelClass::softmax:
    case KernelClass::elementwise:
    case KernelClass::reduction:
    case KernelClass::copy: {
      if (const auto rows = row_amount(operator_name, inputs)) return *rows;
      return elementwise_amount(operator_name, inputs);
    }
    case KernelClass::gather: return gather_amount(operator_name, inputs);
    case KernelClass::optimizer: return update_amount(operator_name, inputs);
    case KernelClass::collective:
    case KernelClass::other: return {};
  }
  return {};
}

// Query, key and value of fused attention. The position of heads and sequence differs between
// operators; sizes of [batch, a, b, d] with the smaller of a and b as heads would be a guess, so
// it goes by the operator's name. Causal masks are not recorded: the full square is counted.
std::optional<AttentionShape> attention_shape_of(std::string_view name,
                                                 const OperatorInputs& inputs) {
  const bool backward = name.find("backward") != std::string_view::npos;
  const std::size_t first = backward ? 1 : 0;
  const Dims* q = inputs.shape(first);
  const Dims* k = inputs.shape(first + 1);
  if (q == nullptr || k == nullptr || q->size() != k->size()) return std::nullopt;
  if (q->size() == 3 && name.find("varlen") != std::string_view::npos) {
    // [tokens of all sequences, heads, d] and where sequences begin [batch + 1]: as if all were
    // equally long, which is the least work there can be.
    const Dims* starts = inputs.shape(first + 3);
    if (starts == nullptr || starts->size() != 1 || starts->at(0) < 2) return std::nullopt;
    const double batch = size_at(*starts, 0) - 1;
    return AttentionShape{.batch = batch,
                          .heads = size_at(*q, 1),
                          .key_heads = size_at(*k, 1),
                          .queries = size_at(*q, 0) / batch,
                          .keys = size_at(*k, 0) / batch,
                          .head_dim = size_at(*q, 2)};
  }
  if (q->size() != 4) return std::nullopt;
  const bool sequence_first = name.find("_scaled_dot_product") == std::string_view::npos;
  const std::size_t sequence = sequence_first ? 1 : 2;
  const std::size_t heads = sequence_first ? 2 : 1;
  return AttentionShape{.batch = size_at(*q, 0),
                        .heads = size_at(*q, heads),
                        .key_heads = size_at(*k, heads),
                        .queries = size_at(*q, sequence),
                        .keys = size_at(*k, sequence),
                        .head_dim = size_at(*q, 3)};
}

void ConvolutionOutputs::learn(std::string_view operator_name, const OperatorInputs& inputs) {
  if (operator_name != "aten::convolution_backward") return;
  const Dims* gradient = inputs.shape(0);
  const Dims* input = inputs.shape(1);
  const Dims* weight = inputs.shape(2);
  if (gradient == nullptr || input == nullptr || weight == nullptr) return;
  outputs_.try_emplace({*input, *weight}, *gradient);
}

WorkAmount ConvolutionOutputs::amount(std::string_view operator_name,
                                      const OperatorInputs& inputs) const {
  const bool forward = operator_name.find("conv") != std::string_view::npos &&
                       operator_name.find("backward") == std::string_view::npos;
  const Dims* input = inputs.shape(0);
  const Dims* weight = inputs.shape(1);
  if (!forward || input == nullptr || weight == nullptr) return {};
  const auto found = outputs_.find({*input, *weight});
  return found == outputs_.end() ? WorkAmount{} : convolution_of(*input, *weight, found->second);
}

}  // namespace foretrace
