#include "models/editing/tensors/kernel_calls.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "sim/core/text.h"

namespace foretrace::editing {
namespace {

bool looks_up(std::string_view op) {
  return op == "aten::embedding" || op == "aten::embedding_bag" || op == "aten::_embedding_bag";
}

/// What cuBLAS runs beside a product: it scales the bias before, adds up split sums behind. Their
/// operator is that of the product.
bool goes_with_product(const KernelEditor& editor, TaskId kernel) {
  return contains_any(editor.graph().name(kernel),
                      {"scal_kernel", "splitKreduce", "reduce_1Block"});
}

/// A later kernel of this call of an operator.
bool continues(const KernelEditor& editor, TaskId kernel, const std::vector<TaskId>& call) {
  if (looks_up(editor.operator_of(kernel))) return false;
  const auto is_product = [&editor](TaskId task) {
    return editor.class_of(task) == KernelClass::gemm && !goes_with_product(editor, task);
  };
  const bool convolves = contains(editor.operator_of(kernel), "conv");
  if (!convolves && is_product(kernel) && std::any_of(call.begin(), call.end(), is_product)) {
    return false;
  }
  const TaskGraph& graph = editor.graph();
  const TaskId before = call.back();
  const Work& one = graph.work(kernel);
  const Work& other = graph.work(before);
  return one.operator_name == other.operator_name && one.shapes == other.shapes &&
         graph.phase(kernel) == graph.phase(before) && graph.names()[one.shapes].size() > 2;
}

/// The thread that launches the kernel; its stream where nothing does.
LaneId launcher_of(const TaskGraph& graph, TaskId kernel) {
  const TaskId call = launch_of(graph, kernel);
  return graph.lane_id(call == none<TaskId> ? kernel : call);
}

}  // namespace

KernelCalls::KernelCalls(const KernelEditor& editor, std::span<const TaskId> kernels)
    : first_(editor.graph().size(), none<TaskId>) {
  std::map<LaneId, std::size_t> open;  // the newest call of each thread
  for (const TaskId kernel : kernels) {
    const auto [newest, is_new] =
        open.try_emplace(launcher_of(editor.graph(), kernel), calls_.size());
    if (!is_new && continues(editor, kernel, calls_[newest->second])) {
      calls_[newest->second].push_back(kernel);
      first_[index(kernel)] = calls_[newest->second].front();
      continue;
    }
    newest->second = calls_.size();
    calls_.push_back({kernel});
    first_[index(kernel)] = kernel;
  }
}

}  // namespace foretrace::editing
