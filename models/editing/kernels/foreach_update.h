// Finds updates that run one operator after the other over all tensors, as PyTorch's foreach
// optimizers do: every operator reads and writes its operands once more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/graph/task_graph.h"

namespace foretrace::editing {

/// Launches of one update on one thread and stream, without a wait between them.
struct ForeachUpdate {
  std::vector<TaskId> calls;  ///< in program order
  std::size_t passes = 0;     ///< different operators
  std::int64_t device_ns = 0;
  /// One pass that reads every operand once and writes parameters and states once, at the pace of
  /// the recorded passes.
  std::int64_t fused_ns = 0;
  std::size_t launches = 1;  ///< of that pass
};
[[nodiscard]] std::vector<ForeachUpdate> find_foreach_updates(const TaskGraph& graph);

/// Of "multi_tensor_apply_kernel<TensorListMetadata<2>, BinaryOpListAlphaFunctor<float, 2, 2, 0>,
/// ...>": lists that it goes over, and lists that it reads. No lists: not such a kernel, or one
/// that is a whole optimizer already.
struct ForeachPass {
  std::size_t lists = 0;
  std::size_t read = 0;
};
[[nodiscard]] ForeachPass foreach_pass(std::string_view kernel_name);

}  // namespace foretrace::editing
