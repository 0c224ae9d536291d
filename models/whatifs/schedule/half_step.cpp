// Everything stays on the recorded streams: their order is that in which kernels end.
#include "models/whatifs/schedule/half_step.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "sim/core/whole.h"

namespace foretrace::editing {
namespace {

// How far the published pairs of kernels are from the co-running model.
constexpr float pair_error = 0.21F;

// Per kernel the first one from there on that has a call; at the end the last one that has.
std::vector<TaskId> next_with_call(const KernelEditor& editor, const std::vector<TaskId>& kernels) {
  std::vector<TaskId> with_call(kernels.size(), none<TaskId>);
  TaskId next = none<TaskId>;
  for (std::size_t i = kernels.size(); i-- > 0;) {
    if (editor.own_call(kernels[i]) != none<TaskId>) next = kernels[i];
    with_call[i] = next;
  }
  TaskId last = none<TaskId>;
  for (TaskId& task : with_call) {
    if (task == none<TaskId>) task = last;
    last = task;
  }
  return with_call;
}

}  // namespace

Cost HalfStep::fused(TaskId kernel, double models) const {
  const std::int64_t measured = editor_.graph().duration_ns(kernel);
  if (models <= 1) return {measured, editor_.graph().provenance(kernel)};
  const KernelDescription& about = editor_.about(kernel);
  if (editor_.accelerator() != nullptr && about.amount.gemm) {
    GemmShape shape = *about.amount.gemm;
    const double one = gemm_ns(*editor_.accelerator(), about.traits.precision, shape);
    shape.batch *= models;
    const double all = gemm_ns(*editor_.accelerator(), about.traits.precision, shape);
    if (one > 0 && all > 0) {
      const Spread spread = class_spread(about.traits.kernel_class);
      const double ns = static_cast<double>(measured) * std::min(all / one, models);
      return {to_whole(std::min(ns, 1e17)), Provenance::scaled, static_cast<float>(spread.low),
              static_cast<float>(spread.high)};
    }
  }
  return moved_share(measured, about.traits.kernel_class, models);
}

bool HalfStep::share(const std::vector<TaskId>& own, const std::vector<TaskId>& other) {
  const std::vector<TaskId> with_call = next_with_call(editor_, own);
  if (own.empty() || with_call.front() == none<TaskId>) return false;
  std::vector<QueuedKernel> queues[2];
  std::vector<Cost> alone[2];
  std::vector<TaskId> tasks[2];
  const auto queue = [&](std::size_t side, TaskId kernel, double models) {
    const Cost cost = fused(kernel, models);
    const KernelTraits& traits = editor_.about(kernel).traits;
    const Accelerator* device = editor_.accelerator();
    const bool fills =
        device != nullptr && fills_device(editor_.graph().work(kernel), traits, *device);
    queues[side].push_back({bottleneck_of(traits), static_cast<double>(cost.duration_ns), fills});
    alone[side].push_back(cost);
    tasks[side].push_back(kernel);
  };
  for (const TaskId kernel : own) {
    one_ns_ += editor_.graph().duration_ns(kernel);
    queue(0, kernel, first_);
  }
  for (const TaskId kernel : other) {
    const bool has_twin = second_ > 0 && editor_.own_call(kernel) != none<TaskId>;
    if (has_twin) queue(1, kernel, second_);
  }
  std::size_t next = 0;  // of own
  Placed before;
  for (const EndedKernel& end : run_beside(model_, queues[0], queues[1], conflict_)) {
    all_ns_ += end.ns;
    if (!end.second) {
      set(tasks[0][end.index], end.ns, alone[0][end.index], end.beside);
      before =
          follow({tasks[0][end.index], tasks[0][end.index], tasks[0][end.index], false}, before);
      next = end.index + 1;
      continue;
    }
    const TaskId kernel = tasks[1][end.index];
    std::size_t place = std::min(next, own.size() - 1);
    const TaskId beside = with_call[place];
    while (place > 0 && with_call[place] == beside) --place;
    const TaskId earlier = with_call[place] != beside ? with_call[place] : none<TaskId>;
    const TaskId twin = add(kernel, beside, kernel != other.front(), end.ns);
    bound(twin, end.ns, alone[1][end.index], end.beside);
    before = follow({twin, kernel, beside, true}, before);
    twins_[kernel] = {twin, beside, earlier};
  }
  return true;
}

/// Times are what each adds to the one before, on whichever stream that is.
HalfStep::Placed HalfStep::follow(const Placed& now, const Placed& before) {
  const TaskGraph& graph = editor_.graph();
  const bool is_told = before.task == none<TaskId> ||
                       graph.lane_id(now.recorded) == graph.lane_id(before.recorded) ||
                       !(now.is_twin || before.is_twin);
  // A twin stands before the call of the kernel beside it, which may be one further on.
  const bool in_order =
      now.is_twin && !before.is_twin ? before.beside < now.beside : before.beside <= now.beside;
  if (!is_told && in_order) {
    editor_.edit().depend(now.task, before.task, DependencyKind::event_wait);
  }
  return now;
}

void HalfStep::repeat(TaskId kernel) {
  one_ns_ += editor_.graph().duration_ns(kernel);
  const Cost own = fused(kernel, first_);
  set(kernel, own.duration_ns, own, false);
  all_ns_ += own.duration_ns;
  if (!(second_ > 0) || editor_.own_call(kernel) == none<TaskId>) return;
  const Cost other = fused(kernel, second_);
  const TaskId twin = add(kernel, kernel, true, other.duration_ns);
  editor_.edit().share_waits(twin, kernel);
  bound(twin, other.duration_ns, other, false);
  all_ns_ += other.duration_ns;
}

const Twin* HalfStep::twin(TaskId kernel) const {
  const auto found = twins_.find(kernel);
  return found == twins_.end() ? nullptr : &found->second;
}

void HalfStep::set(TaskId kernel, std::int64_t ns, const Cost& alone, bool beside) {
  // A start and an end that are rounded may be a nanosecond farther apart than its own time.
  if (!beside && std::abs(ns - alone.duration_ns) <= 1) ns = alone.duration_ns;
  if (ns == editor_.graph().duration_ns(kernel) && !beside) return;
  bound(kernel, ns, alone, beside);
}

TaskId HalfStep::add(TaskId kernel, TaskId beside, bool host_time, std::int64_t ns) {
  const TaskId twin = editor_.copy(kernel, editor_.own_call(beside), Place::before, host_time);
  editor_.edit().spec_of(twin).duration_ns = ns;
  for (const TaskId task : {editor_.call_of_new(twin), twin}) {
    editor_.edit().spec_of(task).phase = editor_.graph().phase(kernel);
  }
  return twin;
}

void HalfStep::bound(TaskId task, std::int64_t ns, const Cost& alone, bool beside) {
  const float error = beside ? pair_error : 0.0F;
  editor_.edit().set_duration(task, ns,
                              {beside ? Provenance::assumed : alone.provenance,
                               std::max(alone.low * (1 - error), 0.0F), alone.high * (1 + error)});
}

}  // namespace foretrace::editing
