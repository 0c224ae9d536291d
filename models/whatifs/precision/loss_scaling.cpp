// As torch.amp.GradScaler does: _amp_foreach_non_finite_check_and_unscale_, then .item().
#include "models/whatifs/precision/loss_scaling.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/editing/kernels/host_wait.h"
#include "models/editing/parameters/model_state.h"

namespace foretrace::editing {
namespace {

// The first kernels of updates, each after a backward pass of its device.
std::vector<TaskId> first_of_updates(const KernelEditor& editor) {
  std::map<std::pair<std::int32_t, std::int32_t>, bool> has_gradients;
  std::vector<TaskId> found;
  for (const TaskId kernel : editor.kernels()) {
    const Lane& lane = editor.graph().lane(kernel);
    bool& waiting = has_gradients[{lane.rank, lane.device}];
    const Phase phase = editor.graph().phase(kernel);
    if (phase == Phase::backward) waiting = true;
    if (phase != Phase::update || !waiting || editor.own_call(kernel) == none<TaskId>) continue;
    found.push_back(kernel);
    waiting = false;
  }
  return found;
}

void insert_one(KernelEditor& editor, TaskId first, const Cost& cost, const KernelWork& work,
                const PrecisionChoice& choice) {
  const TaskId call = editor.own_call(first);
  const TaskId unscale = editor.add(
      first, Place::before, {"unscale and check gradients", work, cost, choice.unscale_host_ns});
  TaskSpec spec;
  spec.lane = editor.graph().lane_id(call);
  spec.work = editor.edit().add_work("read back found_inf", TaskKind::synchronization);
  spec.kind = TaskKind::synchronization;
  spec.duration_ns = choice.readback_host_ns;
  spec.phase = Phase::update;
  spec.step = editor.graph().step(call);
  spec.provenance = Provenance::assumed;
  forget_later_work(editor.edit(), call, first);
  const TaskId readback = editor.edit().insert(spec, call, Place::before);
  editor.edit().depend(readback, unscale, DependencyKind::synchronization);
}

}  // namespace

Result<std::string> insert_loss_scaling(KernelEditor& editor, const PrecisionChoice& choice) {
  const std::vector<TaskId> updates = first_of_updates(editor);
  if (updates.empty()) return std::string("loss scaling: no update after a backward pass");
  // A rank checks the gradients that it updates with.
  const double parameters =
      choice.parameters > 0 ? choice.parameters : parameter_count(editor).updated;
  if (!(parameters > 0)) {
    if (choice.needs_scaling) {
      return missing_cost("the pass over the gradients (parameters=COUNT)");
    }
    return std::string("loss scaling is left out: unknown number of gradients (parameters=COUNT)");
  }
  const double bytes = 2 * parameters * (choice.autocast ? 4 : 2);
  FORETRACE_TRY(auto cost, editor.moving_cost(bytes, KernelClass::optimizer));
  const KernelWork work =
      moving_work(parameters, parameters, choice.autocast ? Precision::fp32 : choice.half);
  for (const TaskId first : updates) insert_one(editor, first, cost, work, choice);
  return fmt::format(
      "loss scaling: {} passes over {:.1f} M gradients of {:.3f} ms each, and as many waits of the "
      "host for their result",
      updates.size(), parameters * 1e-6, to_ms(cost.duration_ns));
}

}  // namespace foretrace::editing
