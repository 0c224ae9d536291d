// Questions about a kernel that its class is too coarse for.
#pragma once

#include "models/editing/kernels/kernel_editor.h"

namespace foretrace::editing {

/// A copy from the device to itself, which a kernel could do as well.
[[nodiscard]] bool is_copy_on_device(const TaskGraph& graph, TaskId task);
/// ReLU and its gradient, in place or not.
[[nodiscard]] bool is_relu(const KernelEditor& editor, TaskId kernel);
/// Batch normalization, forward or backward; not layer or group normalization.
[[nodiscard]] bool is_batch_norm(const KernelEditor& editor, TaskId kernel);
[[nodiscard]] bool is_pooling(const KernelEditor& editor, TaskId kernel);
/// A product of activations with a weight, with its shape known.
[[nodiscard]] bool is_linear(const KernelEditor& editor, TaskId kernel);
/// A GELU, forward or backward.
[[nodiscard]] bool is_gelu(const KernelEditor& editor, TaskId kernel);
[[nodiscard]] bool is_embedding(const KernelEditor& editor, TaskId kernel);

}  // namespace foretrace::editing
