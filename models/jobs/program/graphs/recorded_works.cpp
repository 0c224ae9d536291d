#include "models/jobs/program/graphs/recorded_works.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/text.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

using Sizes = std::initializer_list<double>;

std::string sizes_text(Sizes sizes) {
  std::vector<std::int64_t> whole;
  for (const double size : sizes) whole.push_back(std::max<std::int64_t>(1, to_whole(size)));
  return fmt::format("[{}]", fmt::join(whole, ", "));
}

RecordedWork made(std::string kernel, std::string_view name, std::initializer_list<Sizes> inputs) {
  RecordedWork work{std::move(kernel), name, {}, {}};
  std::vector<std::string> texts;
  for (const Sizes& sizes : inputs) {
    texts.push_back(sizes.size() == 0 ? "[]" : sizes_text(sizes));
    work.inputs += sizes.size() == 0 ? '-' : 'n';
  }
  work.shapes = fmt::format("[{}]", fmt::join(texts, ", "));
  return work;
}

/// [m, k] x [k, n], of a batch of them if there are several.
RecordedWork product_of(double batch, double m, double n, double k) {
  if (batch > 1) return made("gemm", "aten::bmm", {{batch, m, k}, {batch, k, n}});
  return made("gemm", "aten::mm", {{m, k}, {k, n}});
}

RecordedWork product_work(const Operator& op, KernelPart part) {
  const GemmShape& s = op.shape;
  switch (part) {
    case KernelPart::input_gradient: return product_of(s.batch, s.m, s.k, s.n);
    case KernelPart::weight_gradient: return product_of(s.batch, s.n, s.k, s.m);
    default: break;
  }
  // A bias has as many numbers as the product has outputs.
  const bool has_bias = s.batch <= 1 && op.weights >= (s.k + 1) * s.n;
  if (has_bias) return made("gemm", "aten::addmm", {{s.n}, {s.m, s.k}, {s.k, s.n}});
  return product_of(s.batch, s.m, s.n, s.k);
}

/// Two operands without weights: backward has a product for the gradient of each.
std::vector<RecordedWork> batch_product_works(const Operator& op, KernelPart part) {
  const GemmShape& s = op.shape;
  const auto batched = [&](double m, double n, double k) {
    return made("gemm", "aten::bmm", {{s.batch, m, k}, {s.batch, k, n}});
  };
  if (part == KernelPart::forward) return {batched(s.m, s.n, s.k)};
  return {batched(s.k, s.n, s.m), batched(s.m, s.k, s.n)};
}

/// Kernels of the fused versions, forward and backward.
std::array<std::string_view, 2> names_of(AttentionKernel kernel) {
  switch (kernel) {
    case AttentionKernel::flash3: return {"flash::FlashAttnFwdSm90", "flash::FlashAttnBwdSm90"};
    case AttentionKernel::flash2: return {"flash_fwd_kernel", "flash_bwd_dq_dk_dv_loop_kernel"};
    default: return {"fmha_fprop_kernel", "fmha_dgrad_kernel"};
  }
}

RecordedWork attention_as_recorded(const Operator& op, KernelPart part, AttentionKernel kernel) {
  const auto names = names_of(kernel);
  const AttentionPart& a = op.attention;
  const double batch = std::max(1.0, op.shape.batch);
  const Sizes queries = {batch, a.heads, a.queries, a.head_size};
  const Sizes keys = {batch, a.key_heads, a.keys, a.head_size};
  const Sizes values = {batch, a.key_heads, a.keys, a.value_size};
  if (part == KernelPart::forward) {
    return made(std::string(names[0]), "aten::_scaled_dot_product_flash_attention",
                {queries, keys, values});
  }
  return made(std::string(names[1]), "aten::_scaled_dot_product_flash_attention_backward",
              {{batch, a.heads, a.queries, a.value_size}, queries, keys, values});
}

RecordedWork softmax_work(double rows, double columns, bool forward) {
  if (forward) {
    return made("at::native::softmax_warp_forward", "aten::_softmax", {{rows, columns}});
  }
  return made("at::native::softmax_warp_backward", "aten::_softmax_backward_data",
              {{rows, columns}, {rows, columns}});
}

/// Backward a kernel for the gradient of the input, others for those of scale and bias.
std::vector<RecordedWork> norm_works(const Operator& op, bool forward, std::uint32_t kernels) {
  const double n = op.shape.n;
  const double rows = op.shape.batch * op.shape.m;
  const bool rms = op.weights < 2 * n;
  if (forward && rms) {
    return {made("at::native::vectorized_rms_norm_kernel", "aten::_fused_rms_norm",
                 {{rows, n}, {}, {n}})};
  }
  if (forward) {
    return {made("at::native::vectorized_layer_norm_kernel", "aten::native_layer_norm",
                 {{rows, n}, {}, {n}, {n}})};
  }
  RecordedWork input =
      rms ? made("at::native::rms_norm_grad_input_kernel", "aten::_fused_rms_norm_backward",
                 {{rows, n}, {rows, n}, {}, {rows, 1}, {n}})
          : made("at::native::layer_norm_grad_input_kernel", "aten::native_layer_norm_backward",
                 {{rows, n}, {rows, n}, {}, {rows, 1}, {rows, 1}, {n}, {n}});
  std::vector<RecordedWork> works(std::max(1U, kernels), input);
  for (std::size_t i = 1; i < works.size(); ++i) {
    works[i].kernel =
        rms ? "at::native::RMSNormGammaGradCUDAKernel" : "at::native::GammaBetaBackwardCUDAKernel";
  }
  return works;
}

/// Words in the names of operators that work number by number, and what PyTorch has for them.
struct Pointwise {
  std::string_view word;
  std::string_view forward;
  std::string_view backward;
  bool copies = false;
};
constexpr std::array pointwise_operators = {
    Pointwise{"dropout", "aten::native_dropout", "aten::native_dropout_backward"},
    Pointwise{"activation", "aten::gelu", "aten::gelu_backward"},
    Pointwise{"relu", "aten::relu", "aten::threshold_backward"},
    Pointwise{"residual", "aten::add", "aten::add"},
    Pointwise{"rope", "aten::mul", "aten::mul"},
    Pointwise{"norm", "aten::mul", "aten::mul"},
    Pointwise{"heads", "aten::copy_", "aten::copy_", true},
    Pointwise{"permute", "aten::index", "aten::index_put_", true},
    Pointwise{"mask", "aten::masked_fill", "aten::masked_fill"},
    Pointwise{"pool", "aten::max_pool2d_with_indices", "aten::max_pool2d_with_indices_backward"},
};

std::vector<RecordedWork> pointwise_works(const Operator& op, bool forward, std::uint32_t kernels) {
  const double rows = op.shape.batch * op.shape.m;
  const double n = op.shape.n;
  const auto* const known =
      std::find_if(pointwise_operators.begin(), pointwise_operators.end(),
                   [&](const Pointwise& row) { return contains(op.name, row.word); });
  const bool is_known = known != pointwise_operators.end();
  const std::string_view name = !is_known ? "aten::add"
                                : forward ? known->forward
                                          : known->backward;
  const std::string_view kernel = is_known && known->copies
                                      ? "at::native::copy_kernel"
                                      : "at::native::vectorized_elementwise_kernel";
  // Kernels read as many inputs as their bytes tell, beside what they write.
  const double bytes = (forward ? op.forward_bytes : op.backward_bytes) / std::max(1U, kernels);
  constexpr double two_numbers_of_16_bit = 4;
  const bool two = bytes > two_numbers_of_16_bit;
  RecordedWork one = two ? made(std::string(kernel), name, {{rows, n}, {rows, n}})
                         : made(std::string(kernel), name, {{rows, n}});
  return std::vector<RecordedWork>(std::max(1U, kernels), one);
}

/// Logarithms of softmax over all outputs, and the loss of the right one.
std::vector<RecordedWork> loss_works(const Operator& op, bool forward, std::uint32_t kernels) {
  std::vector<RecordedWork> works = pointwise_works(op, forward, kernels);
  const double rows = op.shape.batch * op.shape.m;
  const double n = op.shape.n;
  works.front() = forward
                      ? made("at::native::cunn_SoftMaxForward", "aten::_log_softmax", {{rows, n}})
                      : made("at::native::cunn_SoftMaxBackward", "aten::_log_softmax_backward_data",
                             {{rows, n}, {rows, n}});
  return works;
}

std::vector<RecordedWork> gather_works(const Operator& op, bool forward, double table_rows) {
  const double tokens = op.shape.batch * op.shape.m;
  RecordedWork work =
      forward ? made("at::native::vectorized_gather_kernel", "aten::embedding",
                     {{table_rows, op.shape.n}, {tokens}})
              : made("at::native::embedding_backward_kernel", "aten::embedding_dense_backward",
                     {{tokens, op.shape.n}, {tokens}});
  work.inputs.back() = 'i';
  return {std::move(work)};
}

std::vector<RecordedWork> elementwise_works(const Operator& op, bool forward,
                                            std::uint32_t kernels) {
  if (op.name == "loss") return loss_works(op, forward, kernels);
  // Learned positions: a table of their own.
  if (op.name == "positions") return gather_works(op, forward, op.weights / op.shape.n);
  return pointwise_works(op, forward, kernels);
}

}  // namespace

std::vector<RecordedWork> recorded_works(const Operator& op, KernelPart part, std::uint32_t kernels,
                                         AttentionKernel attention) {
  const bool forward = part == KernelPart::forward;
  switch (op.type) {
    case OperatorType::product: return {product_work(op, part)};
    case OperatorType::batch_product: return batch_product_works(op, part);
    case OperatorType::attention: return {attention_as_recorded(op, part, attention)};
    case OperatorType::rows:
      if (op.rows_kind == OperatorKind::softmax) {
        return {softmax_work(op.shape.batch * op.shape.m, op.shape.n, forward)};
      }
      return norm_works(op, forward, kernels);
    case OperatorType::gather: return gather_works(op, forward, op.weights / op.shape.n);
    case OperatorType::elementwise: return elementwise_works(op, forward, kernels);
    case OperatorType::recorded: return {made("recorded", "recorded", {})};
    default: return {made(std::string(op.name), {}, {})};
  }
}

std::vector<RecordedWork> update_works(double elements, const Framework& framework) {
  // Two states beside the parameter and its gradient, or one.
  constexpr double two_fp32 = 8;
  const bool adam = framework.state_bytes >= two_fp32;
  if (framework.update_kernels >= 1) {
    constexpr std::array<std::string_view, 6> of_adam = {
        "aten::mul_", "aten::add_", "aten::addcmul_", "aten::sqrt", "aten::div", "aten::addcdiv_"};
    constexpr std::array<std::string_view, 2> of_momentum = {"aten::mul_", "aten::add_"};
    const auto count = static_cast<std::size_t>(framework.update_kernels);
    std::vector<RecordedWork> works;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view name =
          adam ? of_adam[i % of_adam.size()] : of_momentum[i % of_momentum.size()];
      works.push_back(
          made("at::native::vectorized_elementwise_kernel", name, {{elements}, {elements}}));
    }
    return works;
  }
  const std::string list = fmt::format("[{}]", sizes_text({elements}));
  const std::vector<std::string> lists(adam ? 4 : 3, list);
  return {{adam ? "at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor>"
                : "at::native::multi_tensor_apply_kernel<FusedSgdMathFunctor>",
           adam ? "aten::_fused_adamw_" : "aten::_fused_sgd_",
           fmt::format("[{}]", fmt::join(lists, ", ")), std::string(lists.size(), 'n')}};
}

}  // namespace foretrace
