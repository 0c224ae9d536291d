// One sweep in program order: each device has at most one pass whose update is under way.
#include "models/editing/parameters/update_of_pass.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

namespace foretrace::editing {

std::vector<UpdateOfPass> updates_of_passes(const KernelEditor& editor,
                                            const std::vector<TrainingPass>& passes) {
  const TaskGraph& graph = editor.graph();
  std::set<TaskId> begins;                  // first forward kernels of passes
  std::map<TaskId, std::size_t> gradients;  // first backward kernels
  for (std::size_t i = 0; i < passes.size(); ++i) {
    begins.insert(passes[i].forward.front());
    gradients.emplace(passes[i].backward.front(), i);
  }
  std::vector<UpdateOfPass> updates(passes.size());
  std::map<DeviceOfRank, std::size_t> open;  // passes that had their first gradient
  for (const TaskId kernel : editor.kernels()) {
    const Phase phase = graph.phase(kernel);
    const bool counts =
        phase == Phase::forward || phase == Phase::backward || phase == Phase::update;
    if (!counts) continue;
    const DeviceOfRank device = device_of(graph, kernel);
    const auto of = open.find(device);
    if (phase == Phase::update) {
      if (of != open.end()) updates[of->second].kernels.push_back(kernel);
    } else if (phase == Phase::backward) {
      const auto pass = gradients.find(kernel);
      if (pass != gradients.end()) open[device] = pass->second;
    } else if (of != open.end() && begins.contains(kernel)) {
      updates[of->second].next = kernel;
    }
  }
  return updates;
}

bool records_update(const KernelEditor& editor) {
  return std::any_of(editor.kernels().begin(), editor.kernels().end(),
                     [&](TaskId kernel) { return editor.graph().phase(kernel) == Phase::update; });
}

std::vector<bool> followed_by_update(const KernelEditor& editor,
                                     const std::vector<TrainingPass>& passes) {
  const std::vector<UpdateOfPass> updates = updates_of_passes(editor, passes);
  const bool recorded = records_update(editor);
  std::vector<bool> followed;
  followed.reserve(updates.size());
  for (const UpdateOfPass& update : updates) {
    followed.push_back(!recorded || update.next == none<TaskId> || !update.kernels.empty());
  }
  return followed;
}

}  // namespace foretrace::editing
