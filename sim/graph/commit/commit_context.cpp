// Side tables of the new graph: steps, tensors, segment parts, demands and priorities in new ids.
#include <algorithm>
#include <utility>

#include "sim/graph/commit/commit_parts.h"

namespace foretrace::committing {

namespace {

class Carrier {
 public:
  Carrier(const Placement& placement, const std::vector<Heir>& heirs)
      : placement_(placement), heirs_(heirs) {}

  [[nodiscard]] TaskId new_id(TaskId task) const { return placement_.new_id[index(task)]; }
  [[nodiscard]] bool removed(TaskId task) const { return placement_.removed(task); }
  [[nodiscard]] TaskId next(TaskId task) const {
    if (!removed(task)) return new_id(task);
    const TaskId heir = heirs_[placement_.ghost[index(task)]].task;
    return heir == none<TaskId> ? heir : new_id(heir);
  }
  [[nodiscard]] TaskId previous(TaskId task) const {
    if (!removed(task)) return new_id(task);
    const TaskId before = heirs_[placement_.ghost[index(task)]].previous;
    return before == none<TaskId> ? before : new_id(before);
  }

  /// A moment of host time: `offset_ns` before the end of the task's segment.
  void carry(TaskId& task, std::int64_t& offset_ns) const {
    if (task == none<TaskId>) return;
    if (!removed(task)) {
      task = new_id(task);
      return;
    }
    const Heir& heir = heirs_[placement_.ghost[index(task)]];
    if (heir.task != none<TaskId>) {
      const bool stays = placement_.fate[index(task)] == Fate::removed;
      offset_ns = heir.later_ns + (stays ? offset_ns : 0);
      task = new_id(heir.task);
      return;
    }
    // Nothing follows on the thread: the end of what precedes is the nearest moment there is.
    offset_ns = 0;
    task = heir.previous == none<TaskId> ? none<TaskId> : new_id(heir.previous);
  }

  /// False if nothing of the row remains.
  bool carry(SegmentPart& part) const {
    if (removed(part.task) && placement_.fate[index(part.task)] == Fate::removed_with_segment) {
      return false;
    }
    part.task = next(part.task);
    return part.task != none<TaskId>;
  }

 private:
  const Placement& placement_;
  const std::vector<Heir>& heirs_;
};

template <typename Row>
void carry_rows(const Carrier& carrier, std::vector<Row>& rows) {
  rows.erase(std::remove_if(rows.begin(), rows.end(),
                            [&](const Row& row) { return carrier.removed(row.task); }),
             rows.end());
  for (Row& row : rows) row.task = carrier.new_id(row.task);
}

/// Steps without a task left go; the others begin and end at the nearest tasks of their thread.
void carry_steps(const Carrier& carrier, GraphContext& context, NewTasks& tasks) {
  std::vector<std::int32_t> new_step(context.steps.size(), -1);
  std::vector<Step> steps;
  bool same = true;
  for (std::size_t i = 0; i < context.steps.size(); ++i) {
    Step step = context.steps[i];
    step.begin = carrier.next(step.begin);
    step.end = carrier.previous(step.end);
    const bool gone =
        step.begin == none<TaskId> || step.end == none<TaskId> || step.begin > step.end;
    same = same && !gone;
    if (gone) continue;
    new_step[i] = static_cast<std::int32_t>(steps.size());
    steps.push_back(step);
  }
  context.steps = std::move(steps);
  if (same) return;
  for (std::int32_t& step : tasks.columns.step) {
    if (step >= 0) step = new_step[static_cast<std::size_t>(step)];
  }
}

}  // namespace

void carry_over_context(const Placement& placement, const std::vector<Heir>& heirs,
                        GraphContext& context, NewTasks& tasks) {
  const Carrier carrier(placement, heirs);
  carry_steps(carrier, context, tasks);
  auto& parts = context.segment_parts;
  std::size_t kept = 0;
  for (SegmentPart& part : parts) {
    if (carrier.carry(part)) parts[kept++] = part;
  }
  parts.resize(kept);
  for (Tensor& tensor : context.tensors) {
    carrier.carry(tensor.allocated_in, tensor.allocated_offset_ns);
    carrier.carry(tensor.freed_in, tensor.freed_offset_ns);
  }
  carry_rows(carrier, context.demands);
  carry_rows(carrier, context.priorities);
  carry_rows(carrier, context.stalls);
}

}  // namespace foretrace::committing
