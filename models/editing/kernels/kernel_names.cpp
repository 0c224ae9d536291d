// Kernel names of PyTorch, cuDNN and MIOpen beside the operators that launch them.
#include "models/editing/kernels/kernel_names.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace foretrace::detail {
namespace {

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

}  // namespace

bool is_relu(const KernelEditor& editor, TaskId kernel) {
  if (editor.class_of(kernel) != KernelClass::elementwise) return false;
  return has_any(editor.operator_of(kernel), {"relu", "clamp_min", "threshold"}) ||
         has_any(editor.graph().name(kernel), {"relu", "Relu", "clamp_min", "threshold_kernel"});
}

bool is_batch_norm(const KernelEditor& editor, TaskId kernel) {
  if (editor.class_of(kernel) != KernelClass::normalization) return false;
  return has_any(editor.operator_of(kernel), {"batch_norm"}) ||
         has_any(editor.graph().name(kernel),
                 {"bn_fw", "bn_bw", "batch_norm", "BatchNorm", "batchnorm"});
}

bool is_pooling(const KernelEditor& editor, TaskId kernel) {
  return has_any(editor.operator_of(kernel), {"pool"}) ||
         has_any(editor.graph().name(kernel), {"pool", "Pool"});
}

bool is_linear(const KernelEditor& editor, TaskId kernel) {
  if (editor.class_of(kernel) != KernelClass::gemm || !editor.about(kernel).amount.gemm) {
    return false;
  }
  if (editor.about(kernel).amount.gemm->batch > 1) return false;
  return !has_any(editor.operator_of(kernel), {"bmm", "attention", "convolution"});
}

bool is_gelu(const KernelEditor& editor, TaskId kernel) {
  return has_any(editor.operator_of(kernel), {"gelu"}) ||
         has_any(editor.graph().name(kernel), {"Gelu", "GELU", "gelu"});
}

bool is_embedding(const KernelEditor& editor, TaskId kernel) {
  return has_any(editor.operator_of(kernel), {"embedding"}) ||
         has_any(editor.graph().name(kernel), {"embedding", "Embedding"});
}

}  // namespace foretrace::detail
