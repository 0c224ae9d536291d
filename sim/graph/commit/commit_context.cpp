// Side tables of the new graph: steps, tensors, segment parts, demands and priorities in new ids.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/graph/commit/commit_parts.h"

namespace foretrace::committing {

namespace {

/// When a tensor is allocated or freed. Tensors follow the program: moments of removed tasks that
/// come to one task keep the order that they had, however little host time is left between them.
struct Moment {
  enum class Action : std::uint8_t { free, allocate, free_at_once };  // order at one place
  enum class Origin : std::uint8_t { before, own, behind };  // of the task that it comes to

  TaskId* task;
  std::int64_t* offset_ns;
  std::uint32_t* sequence;
  Action action;
  Origin origin = Origin::own;
  TaskId old_task{};
  std::int64_t old_offset_ns = 0;
};

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

  /// A moment of host time: `offset_ns` before the end of the task's segment. Says from which side
  /// of the task that has it now it came.
  Moment::Origin carry(TaskId& task, std::int64_t& offset_ns) const {
    if (task == none<TaskId>) return Moment::Origin::own;
    if (!removed(task)) {
      task = new_id(task);
      return Moment::Origin::own;
    }
    const Heir& heir = heirs_[placement_.ghost[index(task)]];
    if (heir.task != none<TaskId>) {
      const bool stays = placement_.fate[index(task)] == Fate::removed;
      offset_ns = heir.later_ns + (stays ? offset_ns : 0);
      task = new_id(heir.task);
      return Moment::Origin::before;
    }
    // Nothing follows on the thread: the end of what precedes is the nearest moment there is.
    offset_ns = 0;
    task = heir.previous == none<TaskId> ? none<TaskId> : new_id(heir.previous);
    return Moment::Origin::behind;
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

std::vector<Moment> moments_of(std::vector<Tensor>& tensors) {
  std::vector<Moment> moments;
  moments.reserve(2 * tensors.size());
  for (Tensor& t : tensors) {
    moments.push_back(
        {&t.allocated_in, &t.allocated_offset_ns, &t.allocated_sequence, Moment::Action::allocate});
    moments.push_back({&t.freed_in, &t.freed_offset_ns, &t.freed_sequence,
                       is_freed_at_once(t) ? Moment::Action::free_at_once : Moment::Action::free});
  }
  return moments;
}

/// Moments of one task, from the one that the program came to first: times and sequences follow.
void keep_order(std::vector<Moment>::iterator first, std::vector<Moment>::iterator last) {
  for (auto later = last; --later != first;) {
    std::int64_t& before_ns = *std::prev(later)->offset_ns;
    before_ns = std::max(before_ns, *later->offset_ns);
  }
  for (auto moment = std::next(first); moment != last; ++moment) {
    *moment->sequence = std::max(*moment->sequence, *std::prev(moment)->sequence + 1);
  }
}

void carry_moments(const Carrier& carrier, std::vector<Tensor>& tensors) {
  const auto is_removed = [&](TaskId task) {
    return task != none<TaskId> && carrier.removed(task);
  };
  const bool all_stay = std::none_of(tensors.begin(), tensors.end(), [&](const Tensor& tensor) {
    return is_removed(tensor.allocated_in) || is_removed(tensor.freed_in);
  });
  if (all_stay) {
    for (Tensor& tensor : tensors) {
      carrier.carry(tensor.allocated_in, tensor.allocated_offset_ns);
      carrier.carry(tensor.freed_in, tensor.freed_offset_ns);
    }
    return;
  }
  std::vector<Moment> moments = moments_of(tensors);
  std::vector<TaskId> heirs;
  for (Moment& moment : moments) {
    moment.old_task = *moment.task;
    moment.old_offset_ns = *moment.offset_ns;
    moment.origin = carrier.carry(*moment.task, *moment.offset_ns);
    if (moment.origin != Moment::Origin::own) heirs.push_back(*moment.task);
  }
  std::sort(heirs.begin(), heirs.end());
  const auto untouched = [&heirs](const Moment& moment) {
    return *moment.task == none<TaskId> ||
           !std::binary_search(heirs.begin(), heirs.end(), *moment.task);
  };
  moments.erase(std::remove_if(moments.begin(), moments.end(), untouched), moments.end());
  const auto place = [](const Moment& m) {
    return std::make_tuple(*m.task, m.origin, m.old_task, -m.old_offset_ns, *m.sequence, m.action);
  };
  std::stable_sort(moments.begin(), moments.end(),
                   [&](const Moment& a, const Moment& b) { return place(a) < place(b); });
  for (auto first = moments.begin(); first != moments.end();) {
    const auto last = std::find_if(first, moments.end(),
                                   [&](const Moment& m) { return *m.task != *first->task; });
    keep_order(first, last);
    first = last;
  }
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
  carry_moments(carrier, context.tensors);
  carry_rows(carrier, context.demands);
  carry_rows(carrier, context.priorities);
  carry_rows(carrier, context.stalls);
}

}  // namespace foretrace::committing
