#include "models/editing/chains/fused_tensors.h"

#include <map>
#include <set>
#include <vector>

#include "models/editing/tensors/tensor_makers.h"

namespace foretrace::editing {
namespace {

// The next call of the thread that gives the device work; none at its end.
TaskId next_launch(const TaskGraph& graph, TaskId call) {
  TaskId task = next_on_lane(graph, call);
  while (task != none<TaskId> && launched_by(graph, task).empty()) task = next_on_lane(graph, task);
  return task;
}

}  // namespace

void FusedTensors::add(const FusionChain& chain, Stashed stashed) {
  for (std::size_t i = 0; i + 1 < chain.kernels.size(); ++i) {
    inner_[chain.kernels[i]] = {chain.calls.back(), stashed};
  }
  last_[chain.kernels.back()] = chain.calls.back();
}

// Per chain the result that is made last: where in-place kernels follow, it leaves the chain.
std::set<std::size_t> FusedTensors::find_outputs(const std::vector<TaskId>& makers,
                                                 const std::vector<Tensor>& tensors,
                                                 const std::vector<bool>& side) const {
  std::map<TaskId, std::size_t> last_made;  // by the last call of the chain
  std::set<TaskId> made_at_end;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (side[i] || !is_result(tensors[i].category)) continue;
    if (last_.contains(makers[i])) made_at_end.insert(last_.at(makers[i]));
    const auto inner = inner_.find(makers[i]);
    if (inner == inner_.end()) continue;
    const auto [known, is_new] = last_made.try_emplace(inner->second.last_call, i);
    if (!is_new && makers[i] > makers[known->second]) known->second = i;
  }
  std::set<std::size_t> outputs;
  for (const auto& [call, tensor] : last_made) {
    if (!made_at_end.contains(call)) outputs.insert(tensor);
  }
  return outputs;
}

void FusedTensors::edit(const KernelEditor& editor, TensorEditor& tensors) const {
  const TaskGraph& graph = editor.graph();
  const std::vector<Tensor>& all = graph.context().tensors;
  if (all.empty()) return;
  const std::vector<TaskId> makers = find_makers(editor);
  const std::vector<bool> side = find_side_results(graph);
  const std::set<std::size_t> outputs = find_outputs(makers, all, side);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Tensor& tensor = all[i];
    const auto inner = inner_.find(makers[i]);
    if (inner == inner_.end() || tensor.freed_in == none<TaskId> || !is_result(tensor.category)) {
      continue;
    }
    const TaskId limit = next_launch(graph, inner->second.last_call);
    const bool inside = graph.lane_id(tensor.freed_in) == graph.lane_id(inner->second.last_call) &&
                        (limit == none<TaskId> || tensor.freed_in <= limit);
    const bool stashed = graph.phase(tensor.freed_in) == Phase::backward &&
                         graph.phase(inner->first) == Phase::forward;
    const bool forgotten =
        stashed && inner->second.stashed == Stashed::goes && !side[i] && !outputs.contains(i);
    if (inside || forgotten) tensors.drop(i);
  }
}

}  // namespace foretrace::editing
