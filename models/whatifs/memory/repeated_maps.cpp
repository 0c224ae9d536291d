#include "models/whatifs/memory/repeated_maps.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "models/editing/kernels/copied_waits.h"
#include "sim/graph/links.h"

namespace foretrace::editing {

RepeatedMaps::Uses RepeatedMaps::uses_of(
    TensorId tensor, const std::function<bool(const OperatorRun&)>& is_cheap) const {
  Uses found;
  for (const std::uint32_t run : uses_.making(tensor).uses) {
    const OperatorRun& known = uses_.runs()[run];
    if (editor_.graph().phase(known.launches.front()) != Phase::backward) {
      found.last_forward = run;
      continue;
    }
    if (found.first_backward == TensorUses::no_run) found.first_backward = run;
    found.cheap = found.cheap && is_cheap(known);
  }
  return found;
}

/// The kernels that make a map, behind those that make what they read and is gone as well.
void RepeatedMaps::repeat(TensorId tensor, TaskId anchor) {
  // Chains of operators may be as long as a pass: a stack of (map, whether its sources are done).
  std::vector<std::pair<TensorId, bool>> open = {{tensor, false}};
  const auto readers = launched_by(editor_.graph(), anchor);
  // A fused kernel reads all that its kernels read. Copies stand in front of it: they wait for what
  // its first kernel waits for.
  const TaskId reader = readers.empty() ? none<TaskId> : editor_.doing(readers.front());
  CopiedWaits waits(editor_.edit());
  if (reader != none<TaskId>) waits.begin_before(editor_.first_replaced(readers.front()));
  while (!open.empty()) {
    const auto [map, ready] = open.back();
    open.pop_back();
    const TensorMaking& making = uses_.making(map);
    if (making.runs.empty() || done_.contains(making.runs.front())) continue;
    if (!ready) {
      open.emplace_back(map, true);
      for (const TensorId from : making.from) {
        if (dropped_.contains(from)) open.emplace_back(from, false);
      }
      continue;
    }
    for (const std::uint32_t run : making.runs) {
      if (!done_.insert(run).second) continue;
      for (const TaskId launch : uses_.runs()[run].launches) {
        for (const TaskId task : launched_by(editor_.graph(), launch)) {
          const TaskId twin = editor_.copy(task, anchor, Place::before);
          if (twin == none<TaskId>) continue;
          waits.put(task, twin);
          ++kernels_;
        }
      }
    }
  }
  if (reader != none<TaskId>) waits.wait(reader);
}

void RepeatedMaps::make_again(TensorId tensor, TensorEditor& tensors,
                              const std::function<bool(const OperatorRun&)>& is_cheap) {
  const Uses uses = uses_of(tensor, is_cheap);
  if (uses.last_forward == TensorUses::no_run || uses.first_backward == TensorUses::no_run) return;
  const Tensor& known = editor_.graph().context().tensors[index(tensor)];
  tensors.free_early(index(tensor), uses_.runs()[uses.last_forward].launches.back());
  if (uses.cheap) return;
  const TaskId anchor = uses_.runs()[uses.first_backward].launches.front();
  repeat(tensor, anchor);
  tensors.add_like(index(tensor), static_cast<double>(known.bytes), anchor, known.freed_in);
}

}  // namespace foretrace::editing
