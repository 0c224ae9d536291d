#include "models/editing/chains/fused_tensors.h"

#include <vector>

#include "models/editing/kernels/data_neighbours.h"
#include "models/editing/tensors/tensor_makers.h"

namespace foretrace::editing {
namespace {

// The next call of the thread that gives the device work; none at its end.
TaskId next_launch(const TaskGraph& graph, TaskId call) {
  TaskId task = next_on_lane(graph, call);
  while (task != none<TaskId> &&
         (launched_by(graph, task).empty() || launches_what_moves_nothing(graph, task))) {
    task = next_on_lane(graph, task);
  }
  return task;
}

/// What was said of a task; null for no task, too.
template <typename Chained>
const Chained* of(const std::vector<const Chained*>& chained, TaskId task) {
  return task == none<TaskId> ? nullptr : chained[index(task)];
}

}  // namespace

void FusedTensors::add(const FusionChain& chain, Stashed stashed) {
  for (const TaskId kernel : chain.kernels) {
    kernels_.push_back({kernel, chain.calls.back(), stashed, kernel == chain.kernels.back()});
  }
}

// Per chain the result that is made last: where in-place kernels follow, it leaves the chain.
std::vector<bool> FusedTensors::find_outputs(const ByTask& chained,
                                             const std::vector<TaskId>& makers,
                                             const std::vector<Tensor>& tensors,
                                             const std::vector<bool>& side) {
  constexpr std::size_t nothing = ~std::size_t{0};
  std::vector<std::size_t> last_made(chained.size(), nothing);  // by the last call of the chain
  std::vector<bool> made_at_end(chained.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Chained* const maker = of(chained, makers[i]);
    if (maker == nullptr || side[i] || !is_result(tensors[i].category)) continue;
    if (maker->is_last) {
      made_at_end[index(maker->last_call)] = true;
      continue;
    }
    std::size_t& known = last_made[index(maker->last_call)];
    if (known == nothing || makers[i] > makers[known]) known = i;
  }
  std::vector<bool> outputs(tensors.size());
  for (std::size_t call = 0; call < last_made.size(); ++call) {
    if (last_made[call] != nothing && !made_at_end[call]) outputs[last_made[call]] = true;
  }
  return outputs;
}

void FusedTensors::edit(const KernelEditor& editor, TensorEditor& tensors) const {
  const TaskGraph& graph = editor.graph();
  const std::vector<Tensor>& all = graph.context().tensors;
  if (all.empty()) return;
  const std::vector<TaskId> makers = find_makers(editor);
  const std::vector<bool> side = find_side_results(graph);
  ByTask chained(graph.size(), nullptr);
  for (const Chained& kernel : kernels_) chained[index(kernel.kernel)] = &kernel;
  const std::vector<bool> outputs = find_outputs(chained, makers, all, side);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Tensor& tensor = all[i];
    const Chained* const inner = of(chained, makers[i]);
    if (inner == nullptr || inner->is_last || tensor.freed_in == none<TaskId> ||
        !is_result(tensor.category)) {
      continue;
    }
    const TaskId limit = next_launch(graph, inner->last_call);
    const bool inside = graph.lane_id(tensor.freed_in) == graph.lane_id(inner->last_call) &&
                        (limit == none<TaskId> || tensor.freed_in <= limit);
    const bool stashed = graph.phase(tensor.freed_in) == Phase::backward &&
                         graph.phase(inner->kernel) == Phase::forward;
    const bool forgotten = stashed && inner->stashed == Stashed::goes && !side[i] && !outputs[i];
    if (inside || forgotten) tensors.drop(i);
  }
}

}  // namespace foretrace::editing
