// Kernel names of PyTorch, cuDNN and MIOpen beside the operators that launch them.
#include "models/editing/kernels/kernel_names.h"

#include <string_view>

#include "sim/core/text.h"

namespace foretrace::editing {

bool is_copy_on_device(const TaskGraph& graph, TaskId task) {
  return graph.kind(task) == TaskKind::copy &&
         contains_any(graph.name(task), {"DtoD", "DeviceToDevice", "Device -> Device"});
}

bool is_relu(const KernelEditor& editor, TaskId kernel) {
  if (editor.class_of(kernel) != KernelClass::elementwise) return false;
  return contains_any(editor.operator_of(kernel), {"relu", "clamp_min", "threshold"}) ||
         contains_any(editor.graph().name(kernel),
                      {"relu", "Relu", "clamp_min", "threshold_kernel"});
}

bool is_batch_norm(const KernelEditor& editor, TaskId kernel) {
  if (editor.class_of(kernel) != KernelClass::normalization) return false;
  return contains_any(editor.operator_of(kernel), {"batch_norm"}) ||
         contains_any(editor.graph().name(kernel),
                      {"bn_fw", "bn_bw", "batch_norm", "BatchNorm", "batchnorm"});
}

bool is_pooling(const KernelEditor& editor, TaskId kernel) {
  return contains_any(editor.operator_of(kernel), {"pool"}) ||
         contains_any(editor.graph().name(kernel), {"pool", "Pool"});
}

bool is_linear(const KernelEditor& editor, TaskId kernel) {
  if (editor.class_of(kernel) != KernelClass::gemm || !editor.about(kernel).amount.gemm) {
    return false;
  }
  if (editor.about(kernel).amount.gemm->batch > 1) return false;
  return !contains_any(editor.operator_of(kernel), {"bmm", "attention", "convolution"});
}

bool is_gelu(const KernelEditor& editor, TaskId kernel) {
  return contains_any(editor.operator_of(kernel), {"gelu"}) ||
         contains_any(editor.graph().name(kernel), {"Gelu", "GELU", "gelu"});
}

bool is_embedding(const KernelEditor& editor, TaskId kernel) {
  return contains_any(editor.operator_of(kernel), {"embedding"}) ||
         contains_any(editor.graph().name(kernel), {"embedding", "Embedding"});
}

}  // namespace foretrace::editing
