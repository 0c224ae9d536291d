// What tasks of a rank wait for, its steps and tensors: everything that names tasks by position.
#include <algorithm>

#include "trace/rules/emit/rank_emitter.h"
#include "trace/rules/emit/tensors.h"

namespace foretrace::trace::rules {

void RankEmitter::end() {
  add_waits();
  add_steps();
  auto& tensors = builder_.context().tensors;
  const std::size_t first = tensors.size();
  // Names tasks by position.
  added_tensors_ = add_tensors({a_, builder_, works_, stream_lanes_, layers_});
  for (std::size_t i = first; i < tensors.size(); ++i) {
    for (TaskId* const task : {&tensors[i].allocated_in, &tensors[i].freed_in}) {
      *task = *task == none<TaskId> ? *task : task_at(static_cast<std::uint32_t>(index(*task)));
    }
  }
}

/// A kernel that fills the device lets the next one begin at a share of its duration. A collective
/// drains only while it transfers; before, others wait for it by the time since its arrival.
void RankEmitter::add_capacity(const Source& source, TaskId task) {
  const DeviceOp& from = a_.ops[source.source_op];
  const CollectiveOp* const collective =
      from.collective == nothing ? nullptr : &a_.collectives[from.collective];
  const bool is_second = from.unrecorded_ns > 0;  // behind work that was not recorded
  Dependency dependency{
      .source = start_of(is_second ? end_at(from.position) : task_at(from.position)),
      .task = task,
      .kind = DependencyKind::capacity,
      .fraction = source.fraction};
  if (collective != nullptr && collective->waits()) {
    const std::int64_t free = a_.end_of_source(source);
    const std::int64_t inside = free - collective->finish_start_ns;
    if (inside >= 0 && collective->transfer_ns > 0) {
      dependency.source = start_of(end_at(from.position));
      dependency.fraction = static_cast<float>(std::min(
          1.0, static_cast<double>(inside) / static_cast<double>(collective->transfer_ns)));
    } else {
      dependency.fraction = 0;
      dependency.lag_ns = free - from.start_ns;
    }
  }
  builder_.add_dependency(dependency);
}

void RankEmitter::add_waits() {
  for (const Source& source : a_.sources) {
    const DeviceOp& from = a_.ops[source.source_op];
    const TaskId task = task_at(a_.ops[source.op].position);
    if (source.fraction >= 0) {
      add_capacity(source, task);
    } else if (source.at == nothing) {
      builder_.add_dependency({.source = end_of(end_at(from.position)),
                               .task = task,
                               .kind = DependencyKind::event_wait,
                               .lag_ns = source.lag_ns});
    } else {
      builder_.add_wait({.task = task,
                         .at = task_at(source.at),
                         .lane = stream_lanes_[from.stream],
                         .rank = rank_,
                         .kind = DependencyKind::event_wait,
                         .lag_ns = source.lag_ns});
    }
  }
  for (const Target& target : a_.targets) {
    const HostCall& call = a_.calls[target.call];
    const bool free = call.kind == CallKind::free;
    builder_.add_wait(
        {.task = task_at(call.finish_position),
         .at = task_at(target.at),
         .lane = target.stream == nothing ? none<LaneId> : stream_lanes_[target.stream],
         .rank = rank_,
         .kind = DependencyKind::synchronization,
         .lag_ns = free ? 0 : call.post_ns,
         .late_after = free ? no_point : start_of(task_at(call.position))});
  }
}

void RankEmitter::add_steps() {
  const auto& windows = a_.annotation.steps;
  std::vector<Step> steps(windows.size());
  measured_.resize(windows.size());
  for (std::size_t i = 0; i < windows.size(); ++i) {
    steps[i].rank = rank_;
    steps[i].number = windows[i].number;
    measured_[i] = {.number = windows[i].number,
                    .start_ns = windows[i].start_ns - a_.origin_ns,
                    .end_ns = windows[i].end_ns - a_.origin_ns};
  }
  for (const HostCall& call : a_.calls) {
    if (call.kind == CallKind::step_begin) {
      steps[static_cast<std::size_t>(call.step)].begin = task_at(call.position);
    } else if (call.kind == CallKind::step_end) {
      steps[static_cast<std::size_t>(call.step)].end = task_at(call.position);
    }
  }
  for (const DeviceOp& op : a_.ops) {
    const std::int32_t step = op.call == nothing ? -1 : step_at(a_.calls[op.call].start_ns);
    if (step >= 0) {
      std::int64_t& first =
          measured_[static_cast<std::size_t>(step - first_step_)].first_device_start_ns;
      const std::int64_t start = op.start_ns - a_.origin_ns;
      first = first < 0 ? start : std::min(first, start);
    }
  }
  for (const Step& step : steps) {
    builder_.add_step(step);
  }
}

}  // namespace foretrace::trace::rules
