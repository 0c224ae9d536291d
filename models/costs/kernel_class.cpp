// Kernel names of PyTorch, cuBLAS, cuDNN, CUTLASS, FlashAttention, Triton, Tensile and MIOpen.
#include "models/costs/kernel_class.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>

#include "models/costs/kernel_precision.h"

namespace foretrace {
namespace {

struct NameRule {
  std::string_view part;  // of the kernel name in lower case
  KernelClass kernel_class;
  bool compute_bound = false;
};

// First match wins: special names stand before the general ones that they contain.
constexpr std::array rules = {
    NameRule{"nccl", KernelClass::collective},
    NameRule{"rccl", KernelClass::collective},
    NameRule{"multi_tensor_apply", KernelClass::optimizer},
    NameRule{"fusedadam", KernelClass::optimizer},
    NameRule{"fused_adam", KernelClass::optimizer},
    // Generated kernels name every operator that was fused into them.
    NameRule{"triton_poi", KernelClass::elementwise},
    NameRule{"triton_red", KernelClass::reduction},
    NameRule{"triton_per", KernelClass::reduction},
    NameRule{"offsetskernel", KernelClass::copy},
    NameRule{"init_device_workspace", KernelClass::copy},
    // Layout changes around convolutions move bytes only, whatever "winograd" suggests.
    NameRule{"winograd_nonfused", KernelClass::copy},
    NameRule{"generatewinogradtiles", KernelClass::copy},
    NameRule{"nchwto", KernelClass::copy},
    NameRule{"nhwcto", KernelClass::copy},
    NameRule{"foldednhwc", KernelClass::copy},
    NameRule{"converttensor", KernelClass::copy},
    NameRule{"scalepackedtensor", KernelClass::copy},
    NameRule{"im2col", KernelClass::copy},
    NameRule{"col2im", KernelClass::copy},
    NameRule{"batched_transpose", KernelClass::copy},
    NameRule{"dot_do_o", KernelClass::elementwise},
    NameRule{"convert_dq", KernelClass::elementwise},
    NameRule{"fmha", KernelClass::attention, true},
    NameRule{"flash_fwd", KernelClass::attention, true},
    NameRule{"flash_bwd", KernelClass::attention, true},
    NameRule{"flash_attn", KernelClass::attention, true},
    NameRule{"flashattn", KernelClass::attention, true},
    NameRule{"attn_fwd", KernelClass::attention, true},
    NameRule{"attn_bwd", KernelClass::attention, true},
    NameRule{"attentionkernel", KernelClass::attention, true},
    NameRule{"attention_kernel", KernelClass::attention, true},
    NameRule{"unified_attention", KernelClass::attention, true},
    NameRule{"paged_attention", KernelClass::attention},
    NameRule{"splitkreduce", KernelClass::reduction},
    NameRule{"bn_fw", KernelClass::normalization},
    NameRule{"bn_bw", KernelClass::normalization},
    NameRule{"batch_norm", KernelClass::normalization},
    NameRule{"batchnorm", KernelClass::normalization},
    NameRule{"layer_norm", KernelClass::normalization},
    NameRule{"layernorm", KernelClass::normalization},
    NameRule{"group_norm", KernelClass::normalization},
    NameRule{"groupnorm", KernelClass::normalization},
    NameRule{"rms_norm", KernelClass::normalization},
    NameRule{"rmsnorm", KernelClass::normalization},
    NameRule{"rowwisemoments", KernelClass::normalization},
    NameRule{"gammabeta", KernelClass::normalization},
    NameRule{"softmax", KernelClass::softmax},
    NameRule{"indexselect", KernelClass::gather},
    NameRule{"index_select", KernelClass::gather},
    NameRule{"index_elementwise", KernelClass::gather},
    NameRule{"indexing_backward", KernelClass::gather},
    NameRule{"embedding", KernelClass::gather},
    NameRule{"gather", KernelClass::gather},
    NameRule{"scatter", KernelClass::gather},
    NameRule{"catarray", KernelClass::copy},
    NameRule{"copy_kernel", KernelClass::copy},
    NameRule{"convolve", KernelClass::convolution, true},
    NameRule{"scudnn", KernelClass::convolution, true},
    NameRule{"cudnn_h", KernelClass::convolution, true},
    NameRule{"wgrad", KernelClass::convolution, true},
    NameRule{"dgrad", KernelClass::convolution, true},
    NameRule{"fprop", KernelClass::convolution, true},
    NameRule{"implicit_gemm", KernelClass::convolution, true},
    NameRule{"winograd", KernelClass::convolution, true},
    NameRule{"conv2d", KernelClass::convolution, true},
    NameRule{"conv3d", KernelClass::convolution, true},
    NameRule{"igemm_", KernelClass::convolution, true},
    NameRule{"miopenconv", KernelClass::convolution, true},
    NameRule{"miopensp3", KernelClass::convolution, true},
    // A product with a vector reads its matrix once: bytes, not arithmetic.
    NameRule{"gemv", KernelClass::gemm},
    NameRule{"gemmsn", KernelClass::gemm},
    NameRule{"gemmk1", KernelClass::gemm},
    NameRule{"dot_kernel", KernelClass::gemm},
    NameRule{"gemm", KernelClass::gemm, true},
    NameRule{"cijk_", KernelClass::gemm, true},
    NameRule{"nvjet", KernelClass::gemm, true},
    NameRule{"cutlass", KernelClass::gemm, true},
    NameRule{"xmma", KernelClass::gemm, true},
    NameRule{"matmul", KernelClass::gemm, true},
    NameRule{"triton_mm", KernelClass::gemm, true},
    NameRule{"triton_tem", KernelClass::gemm, true},
    NameRule{"reduce_kernel", KernelClass::reduction},
    NameRule{"devicereduce", KernelClass::reduction},
    NameRule{"reduce_1block", KernelClass::reduction},
    NameRule{"epilogue::impl", KernelClass::elementwise},
    NameRule{"elementwise", KernelClass::elementwise},
    NameRule{"triton__", KernelClass::elementwise},
    NameRule{"dropout", KernelClass::elementwise},
    NameRule{"upsample", KernelClass::elementwise},
    NameRule{"pool", KernelClass::elementwise},
    NameRule{"distribution_", KernelClass::elementwise},
};

// Fallback where the kernel name says nothing: the operator that launched it.
constexpr std::array operator_rules = {
    NameRule{"attention", KernelClass::attention, true},
    NameRule{"aten::mm", KernelClass::gemm, true},
    NameRule{"aten::addmm", KernelClass::gemm, true},
    NameRule{"aten::bmm", KernelClass::gemm, true},
    NameRule{"aten::baddbmm", KernelClass::gemm, true},
    NameRule{"aten::linear", KernelClass::gemm, true},
    NameRule{"aten::matmul", KernelClass::gemm, true},
    NameRule{"convolution", KernelClass::convolution, true},
    NameRule{"norm", KernelClass::normalization},
    NameRule{"softmax", KernelClass::softmax},
    NameRule{"embedding", KernelClass::gather},
};

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](auto part) { return has(text, part); });
}

template <std::size_t N>
const NameRule* first_match(const std::array<NameRule, N>& table, std::string_view text) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const NameRule& rule) { return has(text, rule.part); });
  return found == table.end() ? nullptr : &*found;
}

// Autocast's list of operators that run in fp32 for range or accuracy (PyTorch documentation,
// "CUDA Ops that can autocast to float32"), as far as kernel names show them.
bool autocast_keeps_fp32(KernelClass kernel_class, std::string_view lower,
                         std::string_view operator_name) {
  if (kernel_class == KernelClass::softmax) return true;
  if (kernel_class == KernelClass::normalization) {
    return !has_any(lower, {"bn_fw", "bn_bw", "batch_norm", "batchnorm"});
  }
  return has_any(lower, {"pow_", "exp_", "log_", "reciprocal", "rsqrt", "nll_loss", "smooth_l1",
                         "mse_", "cosine", "cumsum", "cumprod", "sumfunctor", "normtwoops"}) ||
         has_any(operator_name, {"aten::pow", "aten::exp", "aten::log", "aten::sum", "aten::norm",
                                 "aten::rsqrt", "loss"});
}

}  // namespace

std::string_view to_string(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::gemm: return "gemm";
    case KernelClass::convolution: return "convolution";
    case KernelClass::attention: return "attention";
    case KernelClass::normalization: return "normalization";
    case KernelClass::softmax: return "softmax";
    case KernelClass::elementwise: return "elementwise";
    case KernelClass::reduction: return "reduction";
    case KernelClass::gather: return "gather";
    case KernelClass::copy: return "copy";
    case KernelClass::optimizer: return "optimizer";
    case KernelClass::collective: return "collective";
    case KernelClass::other: return "other";
  }
  return "other";
}

KernelTraits classify(const KernelText& text) {
  KernelTraits traits;
  if (text.kind == TaskKind::collective) {
    traits.kernel_class = KernelClass::collective;
    return traits;
  }
  if (text.kind == TaskKind::copy || text.kind == TaskKind::set) {
    traits.kernel_class = KernelClass::copy;
    return traits;
  }
  const std::string lower = lower_case(text.name);
  const NameRule* rule = first_match(rules, lower);
  if (rule == nullptr) rule = first_match(operator_rules, text.operator_name);
  if (rule != nullptr) {
    traits.kernel_class = rule->kernel_class;
    traits.compute_bound = rule->compute_bound;
  }
  traits.precision = kernel_precision(text.name, text.types);
  traits.keeps_fp32 = autocast_keeps_fp32(traits.kernel_class, lower, text.operator_name);
  return traits;
}

std::vector<KernelTraits> classify_works(const TaskGraph& graph) {
  const NameTable& names = graph.names();
  std::vector<KernelTraits> traits;
  traits.reserve(graph.context().works.size());
  // Works differ by shape and grid, but their names are few and long.
  std::map<std::tuple<NameId, NameId, NameId, TaskKind>, KernelTraits> known;
  for (const Work& work : graph.context().works) {
    if (!is_device(work.kind)) {
      traits.emplace_back();
      continue;
    }
    const auto [at, is_new] =
        known.try_emplace({work.name, work.operator_name, work.types, work.kind});
    if (is_new) {
      at->second =
          classify({names[work.name], names[work.operator_name], names[work.types], work.kind});
    }
    traits.push_back(at->second);
    if (work.precision != Precision::unknown) traits.back().precision = work.precision;
  }
  return traits;
}

int bytes_per_number(Precision precision) {
  switch (precision) {
    case Precision::unknown: return 0;
    case Precision::fp64: return 8;
    case Precision::fp32:
    case Precision::tf32: return 4;
    case Precision::fp16:
    case Precision::bf16: return 2;
    case Precision::fp8:
    case Precision::int8: return 1;
  }
  return 0;
}

}  // namespace foretrace
