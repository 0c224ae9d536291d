// Which operator makes what.
#include "trace/annotate/tensors/result_shapes.h"

#include <algorithm>
#include <array>

#include "sim/core/text.h"
#include "trace/annotate/tensors/result_formulas.h"
#include "trace/annotate/tensors/window_shapes.h"

namespace foretrace::trace {
namespace {

using results::Results;
using results::Shapes;

struct Rule {
  std::string_view name;
  Results (*results)(const OperatorCall&);
};

/// By whole name.
constexpr std::array<Rule, 75> rules = {{
    {"aten::mm", results::mm},
    {"aten::bmm", results::mm},
    {"aten::mv", results::mm},
    {"aten::dot", results::loss},
    {"aten::_int_mm", results::mm},
    {"aten::_scaled_mm", results::mm},
    {"aten::addmm", results::addmm},
    {"aten::addmv", results::addmm},
    {"aten::baddbmm", results::addmm},
    {"aten::_addmm_activation", results::addmm},
    {"aten::linear", results::linear},
    {"aten::convolution_overrideable", convolution_result},
    {"aten::cudnn_convolution", convolution_result},
    {"aten::cudnn_convolution_relu", convolution_result},
    {"aten::cudnn_convolution_transpose", convolution_result},
    {"aten::miopen_convolution", convolution_result},
    {"aten::miopen_convolution_transpose", convolution_result},
    {"aten::miopen_depthwise_convolution", convolution_result},
    {"aten::_conv_depthwise2d", convolution_result},
    {"aten::_slow_conv2d_forward", convolution_result},
    {"aten::thnn_conv2d_forward", convolution_result},
    {"aten::slow_conv_dilated2d", convolution_result},
    {"aten::conv_depthwise3d", convolution_result},
    {"aten::convolution_backward", results::convolution_backward},
    {"aten::cudnn_convolution_backward_input", results::input_gradient},
    {"aten::cudnn_convolution_backward_weight", results::weight_gradient},
    {"aten::miopen_convolution_backward_input", results::input_gradient},
    {"aten::miopen_convolution_backward_weight", results::weight_gradient},
    {"aten::max_pool2d_with_indices", max_pool_result},
    {"aten::max_pool3d_with_indices", max_pool_result},
    {"aten::avg_pool2d", average_pool_result},
    {"aten::avg_pool3d", average_pool_result},
    {"aten::_adaptive_avg_pool2d", resized_result},
    {"aten::_adaptive_avg_pool3d", resized_result},
    {"aten::upsample_nearest2d", resized_result},
    {"aten::_upsample_nearest_exact2d", resized_result},
    {"aten::upsample_bilinear2d", resized_result},
    {"aten::upsample_bicubic2d", resized_result},
    {"aten::_upsample_bicubic2d_aa", resized_result},
    {"aten::upsample_nearest2d_backward", results::input_gradient},
    {"aten::upsample_bilinear2d_backward", results::input_gradient},
    {"aten::upsample_bicubic2d_backward", results::input_gradient},
    {"aten::native_batch_norm", results::batch_norm},
    {"aten::cudnn_batch_norm", results::batch_norm},
    {"aten::miopen_batch_norm", results::batch_norm},
    {"aten::native_batch_norm_backward", results::batch_norm_backward},
    {"aten::cudnn_batch_norm_backward", results::library_norm_backward},
    {"aten::miopen_batch_norm_backward", results::library_norm_backward},
    {"aten::native_layer_norm", results::layer_norm},
    {"aten::native_layer_norm_backward", results::layer_norm_backward},
    {"aten::native_group_norm", results::group_norm},
    {"aten::native_group_norm_backward", results::group_norm_backward},
    {"aten::_fused_rms_norm", results::rms_norm},
    {"aten::_fused_rms_norm_backward", results::rms_norm_backward},
    {"aten::_softmax", results::softmax},
    {"aten::_log_softmax", results::softmax},
    {"aten::native_dropout", results::dropout},
    {"aten::_fused_dropout", results::dropout},
    {"aten::_flash_attention_forward", results::attention},
    {"aten::_efficient_attention_forward", results::attention},
    {"aten::_flash_attention_backward", results::attention_backward},
    {"aten::_efficient_attention_backward", results::attention_backward},
    {"aten::nll_loss_forward", results::loss},
    {"aten::nll_loss2d_forward", results::loss},
    {"aten::cat", results::concatenation},
    {"aten::_cat", results::concatenation},
    {"aten::index_select", results::index_select},
    {"aten::embedding", results::embedding},
    {"aten::embedding_dense_backward", results::embedding_backward},
    {"aten::gather", results::gather},
    {"aten::sort", results::sort},
    {"aten::topk", results::sort},
    {"aten::where", results::where},
    {"aten::_local_scalar_dense", results::nothing},
    {"aten::item", results::nothing},
}};

constexpr std::array<std::string_view, 12> comparisons = {
    "aten::eq",         "aten::ne",          "aten::lt",    "aten::le",
    "aten::gt",         "aten::ge",          "aten::isnan", "aten::logical_not",
    "aten::logical_or", "aten::logical_and", "aten::isinf", "aten::isin"};

/// Results whose size is in the data.
constexpr std::array<std::string_view, 7> of_data = {
    "aten::nonzero", "aten::masked_select", "aten::_unique2",         "aten::unique_dim",
    "aten::index",   "aten::bincount",      "aten::repeat_interleave"};

Results by_rule(const OperatorCall& call) {
  for (const Rule& rule : rules) {
    if (rule.name == call.name) return rule.results(call);
  }
  if (results::is_reduction(call.name)) return results::reduction(call);
  const auto is_in = [&](const auto& names) {
    return std::find(names.begin(), names.end(), call.name) != names.end();
  };
  if (is_in(comparisons)) return results::comparison(call);
  // A node of a custom function that runs kernels itself: the gradient of its first argument.
  if (contains(call.name, "Backward")) return results::input_gradient(call);
  if (is_in(of_data) || !call.name.starts_with("aten::")) return std::nullopt;
  if (call.name.starts_with("aten::_foreach_")) return results::list(call);
  return contains(call.name, "_backward") ? results::elementwise_backward(call)
                                          : results::elementwise(call);
}

}  // namespace

std::optional<std::vector<TensorShape>> result_shapes(const OperatorCall& call) {
  if (call.arguments == nullptr) return std::nullopt;
  if (works_in_place(call.name)) return Shapes{};
  Results found = by_rule(call);
  if (!found && call.gradient != nullptr) {
    const TensorShape* const input = call.arguments->tensor(0);
    const bool typed = call.gradient->type != ElementType::unknown || input == nullptr;
    found = Shapes{typed ? *call.gradient : call.gradient->as(input->type)};
    if (call.name.starts_with("aten::max_pool")) {
      found->push_back(found->front().as(ElementType::i64));
    }
  }
  return found;
}

bool works_in_place(std::string_view name) {
  return name.size() > 2 && name.back() == '_' && name[name.size() - 2] != '_';
}

bool saves_result(std::string_view name) {
  static constexpr std::array<std::string_view, 14> names = {
      "aten::relu",         "aten::sigmoid",   "aten::tanh",       "aten::exp", "aten::sqrt",
      "aten::rsqrt",        "aten::softmax",   "aten::_softmax",   "aten::elu", "aten::log_softmax",
      "aten::_log_softmax", "aten::clamp_min", "aten::reciprocal", "aten::celu"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace foretrace::trace
