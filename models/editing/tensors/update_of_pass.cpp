#include "models/editing/tensors/update_of_pass.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace foretrace::editing {

std::vector<bool> followed_by_update(const KernelEditor& editor,
                                     const std::vector<TrainingPass>& passes) {
  using Device = std::pair<std::int32_t, std::int32_t>;  // rank, number
  const TaskGraph& graph = editor.graph();
  const auto device = [&](TaskId task) {
    return Device(graph.lane(task).rank, graph.lane(task).device);
  };
  std::map<Device, std::vector<TaskId>> updates;
  for (const TaskId kernel : editor.kernels()) {
    if (graph.phase(kernel) == Phase::update) updates[device(kernel)].push_back(kernel);
  }
  std::vector<bool> followed(passes.size(), true);
  for (std::size_t i = 0; i < passes.size() && !updates.empty(); ++i) {
    const Device of_pass = device(passes[i].backward.back());
    const auto next = std::find_if(
        passes.begin() + static_cast<std::ptrdiff_t>(i) + 1, passes.end(),
        [&](const TrainingPass& other) { return device(other.forward.front()) == of_pass; });
    if (next == passes.end()) continue;
    const std::vector<TaskId>& own = updates[of_pass];
    const auto update = std::upper_bound(own.begin(), own.end(), passes[i].backward.back());
    followed[i] = update != own.end() && *update < next->forward.front();
  }
  return followed;
}

}  // namespace foretrace::editing
