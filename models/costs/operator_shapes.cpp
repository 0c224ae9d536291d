// Work of the operators of PyTorch by name; what is not listed is not known.
#include "models/costs/operator_shapes.h"

#include <algorithm>
#include <array>

namespace foretrace {
namespace {

double count(const Dims& dims) {
  double product = 1;
  for (const std::int64_t size : dims) product *= static_cast<double>(size);
  return product;
}

double size_at(const Dims& dims, std::size_t i) { return static_cast<double>(dims[i]); }

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

WorkAmount gemm_amount(const GemmShape& shape) {
  WorkAmount amount;
  amount.gemm = shape;
  amount.flops = shape.flops();
  amount.numbers = shape.numbers();
  amount.output = shape.batch * shape.m * shape.n;
  return amount;
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
  if (is_one_of(name, {"aten::mm", "aten::bmm", "aten::_scaled_mm"})) {
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
    const double k = static_cast<double>(x->back());
    return GemmShape{1, count(*x) / std::max(k, 1.0), size_at(*w, 0), k};
  }
  return std::nullopt;
}

// Backward of a convolution with respect to its input: the gradient [N, K, P, Q] and the weight
// [K, C/g, R, S] give the work. The output size of a forward convolution needs stride and padding,
// which are not shapes: not known.
WorkAmount convolution_amount(std::string_view name, const OperatorInputs& inputs) {
  std::size_t gradient_at = 0;
  std::size_t weight_at = 0;
  if (is_one_of(name, {"aten::cudnn_convolution_backward_input",
                       "aten::miopen_convolution_backward_input"})) {
    gradient_at = 1;
    weight_at = 2;
  } else if (name == "aten::convolution_backward") {
    weight_at = 2;  // gradient, input, weight: the same work for both gradients
  } else {
    return {};
  }
  const Dims* gradient = inputs.shape(gradient_at);
  const Dims* weight = inputs.shape(weight_at);
  if (gradient == nullptr || weight == nullptr || gradient->size() < 3 ||
      weight->size() != gradient->size() || weight->at(0) != gradient->at(1)) {
    return {};
  }
  WorkAmount amount;
  const double per_output = count(*weight) / std::max(size_at(*weight, 0), 1.0);
  amount.flops = 2 * count(*gradient) * per_output;
  amount.numbers = 2 * count(*gradient) + count(*weight);
  amount.output = count(*gradient);
  return amount;
}

// Query, key and value of fused attention. The position of heads and sequence differs between
// operators; sizes of [batch, a, b, d] with the smaller of a and b as heads would be a guess, so
// each operator is listed. Causal masks are not recorded: the full square is counted.
WorkAmount attention_amount(std::string_view name, const OperatorInputs& inputs) {
  const bool backward = name.find("backward") != std::string_view::npos;
  const std::size_t first = backward ? 1 : 0;
  const Dims* q = inputs.shape(first);
  const Dims* k = inputs.shape(first + 1);
  if (q == nullptr || k == nullptr || q->size() != 4 || k->size() != 4) return {};
  const bool sequence_first = name.find("_scaled_dot_product") == std::string_view::npos;
  const std::size_t sequence = sequence_first ? 1 : 2;
  const std::size_t heads = sequence_first ? 2 : 1;
  const double pairs =
      size_at(*q, 0) * size_at(*q, heads) * size_at(*q, sequence) * size_at(*k, sequence);
  WorkAmount amount;
  amount.flops = 4 * pairs * size_at(*q, 3) * (backward ? 2.5 : 1.0);
  amount.numbers = (2 * count(*q) + 2 * count(*k)) * (backward ? 2 : 1);
  amount.output = count(*q);
  return amount;
}

// Reads every input once and writes one tensor of the broadcast shape.
WorkAmount elementwise_amount(const OperatorInputs& inputs, double writes) {
  WorkAmount amount;
  double read = 0;
  double largest = 0;
  for (const auto& tensors : inputs.tensors) {
    for (const Dims& dims : tensors) {
      if (dims.empty()) continue;
      read += count(dims);
      largest = std::max(largest, count(dims));
    }
  }
  if (largest <= 0) return {};
  amount.numbers = read + writes * largest;
  amount.output = largest;
  return amount;
}

// In-place and out variants have the target among their inputs; it is read or overwritten once.
struct ElementwiseRow {
  std::string_view name;
  double writes;  // tensors of the largest shape written beside the inputs read
};
constexpr std::array elementwise_rows = {
    ElementwiseRow{"aten::add", 1},
    ElementwiseRow{"aten::add_", 1},
    ElementwiseRow{"aten::sub", 1},
    ElementwiseRow{"aten::sub_", 1},
    ElementwiseRow{"aten::mul", 1},
    ElementwiseRow{"aten::mul_", 1},
    ElementwiseRow{"aten::div", 1},
    ElementwiseRow{"aten::div_", 1},
    ElementwiseRow{"aten::neg", 1},
    ElementwiseRow{"aten::pow", 1},
    ElementwiseRow{"aten::sqrt", 1},
    ElementwiseRow{"aten::rsqrt", 1},
    ElementwiseRow{"aten::exp", 1},
    ElementwiseRow{"aten::log", 1},
    ElementwiseRow{"aten::relu", 1},
    ElementwiseRow{"aten::relu_", 1},
    ElementwiseRow{"aten::clamp_min", 0},
    ElementwiseRow{"aten::clamp_min_", 1},
    ElementwiseRow{"aten::gelu", 1},
    ElementwiseRow{"aten::silu", 1},
    ElementwiseRow{"aten::sigmoid", 1},
    ElementwiseRow{"aten::tanh", 1},
    ElementwiseRow{"aten::hardtanh_", 1},
    ElementwiseRow{"aten::where", 1},
    ElementwiseRow{"aten::copy_", 0},
    ElementwiseRow{"aten::fill_", 0},
    ElementwiseRow{"aten::zero_", 0},
    ElementwiseRow{"aten::addcmul_", 1},
    ElementwiseRow{"aten::addcdiv_", 1},
    ElementwiseRow{"aten::lerp_", 1},
    ElementwiseRow{"aten::cat", 1},
    ElementwiseRow{"aten::native_dropout", 2},
    ElementwiseRow{"aten::threshold_backward", 1},
    ElementwiseRow{"aten::gelu_backward", 1},
    ElementwiseRow{"aten::silu_backward", 1},
    ElementwiseRow{"aten::sigmoid_backward", 1},
    ElementwiseRow{"aten::tanh_backward", 1},
    ElementwiseRow{"aten::native_dropout_backward", 1},
    ElementwiseRow{"aten::native_layer_norm", 1},
    ElementwiseRow{"aten::native_group_norm", 1},
    ElementwiseRow{"aten::_softmax", 1},
    ElementwiseRow{"aten::_log_softmax", 1},
    ElementwiseRow{"aten::_softmax_backward_data", 1},
    ElementwiseRow{"aten::_log_softmax_backward_data", 1},
    // The statistics need a pass of their own before the one that writes.
    ElementwiseRow{"aten::cudnn_batch_norm", 2},
    ElementwiseRow{"aten::native_batch_norm", 2},
    ElementwiseRow{"aten::miopen_batch_norm", 2},
    ElementwiseRow{"aten::native_layer_norm_backward", 1},
    ElementwiseRow{"aten::cudnn_batch_norm_backward", 3},
    ElementwiseRow{"aten::native_batch_norm_backward", 3},
    ElementwiseRow{"aten::sum", 0},
    ElementwiseRow{"aten::mean", 0},
};

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
      return shape && shape->flops() > 0 ? gemm_amount(*shape) : WorkAmount{};
    }
    case KernelClass::convolution: return convolution_amount(operator_name, inputs);
    case KernelClass::attention: return attention_amount(operator_name, inputs);
    case KernelClass::normalization:
    case KernelClass::softmax:
    case KernelClass::elementwise:
    case KernelClass::reduction:
    case KernelClass::copy: {
      const auto* row = std::find_if(
          elementwise_rows.begin(), elementwise_rows.end(),
          [&](const ElementwiseRow& candidate) { return candidate.name == operator_name; });
      return row == elementwise_rows.end() ? WorkAmount{} : elementwise_amount(inputs, row->writes);
    }
    case KernelClass::gather:
    case KernelClass::optimizer:
    case KernelClass::collective:
    case KernelClass::other: return {};
  }
  return {};
}

}  // namespace foretrace
