// Device work of a stream by the operators that called for it: one of several kernels (a product
// and the sum of its parts) is one.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"

namespace foretrace {

struct OperatorCall {
  std::span<const TaskId> kernels;  ///< in program order; other work (a copy) is alone
  std::string_view name;            ///< the operator's, or the kernel's; empty: no kernel
  TaskId main{};                    ///< the kernel that multiplies, or the first
};

/// A trace does not say where a call ends. Neighbours are of one call where operator, inputs, step,
/// phase and layer are the same, no kernel's name comes twice, and one kernel at most multiplies.
/// The calls look into `work`.
[[nodiscard]] std::vector<OperatorCall> operator_calls(const editing::KernelEditor& editor,
                                                       std::span<const TaskId> work);

/// The operator that called for a kernel, or the kernel where none is recorded.
[[nodiscard]] std::string_view operator_or_kernel(const editing::KernelEditor& editor,
                                                  TaskId kernel);

/// Products, convolutions and fused attention.
[[nodiscard]] bool multiplies(KernelClass kernel_class);

/// True if both are of one step and one phase of it.
[[nodiscard]] bool in_one_pass(const TaskGraph& graph, TaskId a, TaskId b);

}  // namespace foretrace
