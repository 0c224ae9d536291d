// Operators that read each of their inputs once, with what they write.
#include <algorithm>
#include <array>

#include "models/hardware/costs/operator_shapes.h"

namespace foretrace {
namespace {

// Reads every input once and writes one tensor of the broadcast shape.
WorkAmount amount_with(const OperatorInputs& inputs, double writes) {
  WorkAmount amount;
  double read = 0;
  double largest = 0;
  for (const auto& tensors : inputs.tensors) {
    for (const Dims& dims : tensors) {
      if (dims.empty()) continue;
      read += element_count(dims);
      largest = std::max(largest, element_count(dims));
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

WorkAmount elementwise_amount(std::string_view operator_name, const OperatorInputs& inputs) {
  // A fusion of XLA has its results behind its operands.
  if (operator_name.starts_with("fusion:")) return amount_with(inputs, 0);
  const auto* row = std::find_if(
      elementwise_rows.begin(), elementwise_rows.end(),
      [&](const ElementwiseRow& candidate) { return candidate.name == operator_name; });
  return row == elementwise_rows.end() ? WorkAmount{} : amount_with(inputs, row->writes);
}

}  // namespace foretrace
