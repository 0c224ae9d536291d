#include "models/whatifs/parallelism/stage_emitter.h"

#include <algorithm>

#include "models/whatifs/parallelism/tensor_parallel.h"

namespace foretrace::editing {

void StageEmitter::take(const TensorSplit& split) {
  cost_.clear();
  before_.clear();
  after_.clear();
  for (const SplitKernel& part : split.kernels) cost_[part.kernel] = part.cost;
  for (const SplitExchange& what : split.exchanges) {
    if (what.before != none<TaskId>) {
      before_.emplace(what.before, what);
    } else {
      after_.emplace(what.after, what);
    }
  }
}

std::int64_t StageEmitter::cost_ns(TaskId kernel) const {
  const auto found = cost_.find(kernel);
  return found == cost_.end() ? graph_.duration_ns(kernel) : found->second.duration_ns;
}

TaskId StageEmitter::last(std::uint32_t stage) const {
  const auto found = last_.find(stage);
  return found == last_.end() ? none<TaskId> : found->second;
}

LaneId StageEmitter::lane_of(std::uint32_t stage, LaneId recorded) {
  if (stage == 0) return recorded;
  const auto found = lanes_.find({stage, recorded});
  if (found != lanes_.end()) return found->second;
  Lane lane = graph_.context().lanes[index(recorded)];
  lane.rank += static_cast<std::int32_t>(stage);
  return lanes_.emplace(std::pair{stage, recorded}, editor_.edit().add_lane(std::move(lane)))
      .first->second;
}

Lane StageEmitter::described(std::uint32_t stage, TaskId like) const {
  Lane lane = graph_.lane(like);
  lane.rank += static_cast<std::int32_t>(stage);
  return lane;
}

Cost StageEmitter::cost_of(TaskId kernel) const {
  const auto found = cost_.find(kernel);
  if (found != cost_.end()) return found->second;
  return {graph_.duration_ns(kernel), Provenance::scaled, 1.0F, 1.0F};
}

std::int64_t StageEmitter::recorded_host_ns(TaskId kernel) const {
  const TaskId call = editor_.own_call(kernel);
  if (call == none<TaskId>) return 0;
  std::int64_t ns = std::max<std::int64_t>(graph_.segment_ns(call), 0);
  // Calls that launch no kernel are not copied: what they take, the next one takes.
  for (TaskId task = previous_on_lane(graph_, call); task != none<TaskId>;
       task = previous_on_lane(graph_, task)) {
    const TaskKind kind = graph_.kind(task);
    if (kind == TaskKind::mark || graph_.phase(task) != graph_.phase(call)) break;
    if (kind == TaskKind::launch) {
      const TaskId only = launched_by(graph_, task).only();
      if (only == none<TaskId> || graph_.kind(only) == TaskKind::kernel) break;
    }
    ns += std::max<std::int64_t>(graph_.segment_ns(task), 0) + graph_.duration_ns(task);
  }
  return ns;
}

void StageEmitter::begin(TaskId anchor_call) {
  anchor_ = anchor_call;
  last_visit_.clear();
  waits_.clear();
}

void StageEmitter::visit(StageVisit visit, TaskId arrived) {
  visit_ = visit;
  CopiedWaits*& last = last_visit_[visit.stage];
  std::vector<TaskId> gates = last == nullptr ? std::vector<TaskId>{} : last->ends();
  if (arrived != none<TaskId>) gates.push_back(arrived);
  last = &waits_.try_emplace({visit.stage, visit.micro_batch}, editor_.edit()).first->second;
  last->begin(std::move(gates));
}

void StageEmitter::visit_recorded(StageVisit visit, const std::vector<TaskId>& kernels,
                                  TaskId arrived) {
  this->visit(visit, arrived);
  for (const TaskId kernel : kernels) last_visit_[visit.stage]->keep(kernel);
}

TaskId StageEmitter::emit(TaskId kernel) {
  return put(kernel, recorded_host_ns(kernel), cost_of(kernel));
}

TaskId StageEmitter::emit(TaskId kernel, const Cost& cost) {
  return put(kernel, recorded_host_ns(kernel), cost);
}

TaskId StageEmitter::emit_first(TaskId kernel, std::int64_t host_ns) {
  return put(kernel, host_ns, cost_of(kernel));
}

void StageEmitter::wait_for_visit(TaskId task) { last_visit_[visit_.stage]->wait(task); }

TaskId StageEmitter::put(TaskId kernel, std::int64_t host_ns, const Cost& cost) {
  const std::uint32_t stage = visit_.stage;
  for (auto [at, end] = before_.equal_range(kernel); at != end; ++at) {
    exchange(stage, kernel, at->second, last(stage));
  }
  Editor& edit = editor_.edit();
  // Steps are the recorded rank's own.
  const std::int32_t step = stage == 0 ? graph_.step(kernel) : -1;
  TaskSpec device = edit.like(kernel);
  device.lane = lane_of(stage, graph_.lane_id(kernel));
  device.segment_ns = std::max<std::int64_t>(graph_.segment_ns(kernel), 0);
  device.duration_ns = cost.duration_ns;
  device.provenance = cost.provenance;
  device.step = step;
  const TaskId own = editor_.own_call(kernel);
  TaskId task = none<TaskId>;
  if (own == none<TaskId>) {
    task = edit.insert(device, anchor_, Place::before);
  } else {
    TaskSpec call = edit.like(own);
    call.lane = lane_of(stage, graph_.lane_id(own));
    call.segment_ns = host_ns;
    call.provenance = Provenance::scaled;
    call.step = step;
    task = edit.insert(Editor::NewPair{call, device, launch_link(graph_, kernel).lag_ns}, anchor_,
                       Place::before)
               .device;
  }
  edit.set_duration(task, cost.duration_ns, {cost.provenance, cost.low, cost.high});
  for (const TaskId source : std::exchange(pending_[stage], {})) network_.wait(task, source);
  last_visit_[stage]->put(kernel, task);
  last_[stage] = task;
  for (auto [at, end] = after_.equal_range(kernel); at != end; ++at) {
    exchange(stage, kernel, at->second, task);
  }
  if (const auto held = until_.find({stage, kernel}); held != until_.end()) {
    for (const TaskId source : held->second) next_waits(stage, source);
    until_.erase(held);
  }
  return task;
}

void StageEmitter::exchange(std::uint32_t stage, TaskId like, const SplitExchange& what,
                            TaskId source) {
  // Waits for what has arrived and nothing has worked on yet, too.
  const TaskId task = send(stage, like, tensor_transfer(what, tensor_group_));
  if (source != none<TaskId>) network_.wait(task, source);
  if (what.before == none<TaskId>) last_visit_[stage]->whole_after(source, task);
  if (what.before != none<TaskId> || what.until == what.after) {
    next_waits(stage, task);
  } else {
    until_[{stage, what.until}].push_back(task);
  }
}

TaskId StageEmitter::send(std::uint32_t stage, TaskId like, const NetworkTransfer& transfer) {
  const TaskId own = editor_.own_call(like);
  const LaneId thread = own == none<TaskId> ? none<LaneId> : lane_of(stage, graph_.lane_id(own));
  const TaskId task = network_.put(transfer, {like, anchor_, described(stage, like), thread,
                                              stage == 0 ? graph_.step(like) : -1});
  for (const TaskId source : pending_[stage]) network_.wait(task, source);
  return task;
}

}  // namespace foretrace::editing
