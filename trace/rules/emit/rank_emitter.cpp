#include "trace/rules/emit/rank_emitter.h"

#include <algorithm>
#include <string>

#include "trace/rules/assembly/constants.h"
#include "trace/rules/assembly/device_info.h"

namespace foretrace::trace::rules {
namespace {

TaskKind kind_of_call(CallKind kind) {
  switch (kind) {
    case CallKind::launch:
    case CallKind::graph_launch:
    case CallKind::blocking_copy: return TaskKind::launch;
    case CallKind::stream_sync:
    case CallKind::device_sync:
    case CallKind::event_sync:
    case CallKind::free: return TaskKind::synchronization;
    case CallKind::event_record:
    case CallKind::stream_wait: return TaskKind::wait;
    default: return TaskKind::mark;
  }
}

}  // namespace

RankEmitter::RankEmitter(Assembly& assembly, GraphBuilder& builder,
                         std::vector<std::int64_t>& recorded)
    : a_(assembly),
      builder_(builder),
      recorded_(recorded),
      rank_(assembly.rank),
      works_(assembly, builder),
      region_(assembly.threads.size(), 0) {
  begin_.reserve(a_.items.size());
  end_.reserve(a_.items.size());
}

void RankEmitter::begin(std::int32_t first_step) {
  first_step_ = first_step;
  for (const HostThread& thread : a_.threads) {
    const Track& track = a_.events.tracks[index(thread.track)];
    thread_lanes_.push_back(builder_.add_lane({.kind = LaneKind::host_thread,
                                               .rank = rank_,
                                               .number = track.number,
                                               .name = std::string(a_.events.names[track.name])}));
  }
  for (const Stream& stream : a_.streams) {
    stream_lanes_.push_back(builder_.add_lane({.kind = LaneKind::stream,
                                               .rank = rank_,
                                               .device = stream.device,
                                               .number = stream.number,
                                               .queue_depth = stream.queue_depth,
                                               .name = {}}));
  }
  builder_.add_rank_class({.first_rank = rank_, .multiplicity = 1});
  for (const DeviceProperties& device : a_.events.info.devices) {
    builder_.add_device(device_info(device, rank_));
  }
  const auto& modules = a_.annotation.modules;
  for (std::size_t i = layers_.size(); i < modules.size(); ++i) {
    layers_.push_back(
        builder_.add_layer(modules[i].name, modules[i].parent == 0 || modules[i].parent >= i
                                                ? none<LayerId>
                                                : layers_[modules[i].parent]));
  }
}

void RankEmitter::share_layers(const RankEmitter& other) {
  const auto& mine = a_.annotation.modules;
  const auto& theirs = other.a_.annotation.modules;
  const bool same = std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end(),
                               [](const ModuleInfo& a, const ModuleInfo& b) {
                                 return a.name == b.name && a.parent == b.parent;
                               });
  if (same) {
    layers_ = other.layers_;
  }
}

std::vector<TrackId> RankEmitter::thread_tracks(std::size_t lanes) const {
  std::vector<TrackId> tracks(lanes, none<TrackId>);
  for (std::size_t i = 0; i < thread_lanes_.size(); ++i) {
    tracks[index(thread_lanes_[i])] = a_.threads[i].track;
  }
  return tracks;
}

std::int64_t RankEmitter::next_time_ns() const {
  const Item& item = a_.items[next_];
  switch (item.kind) {
    case Item::Kind::call: return a_.calls[item.index].start_ns - a_.origin_ns;
    case Item::Kind::finish: return a_.calls[item.index].end_ns - a_.origin_ns;
    case Item::Kind::op: break;
  }
  const std::uint32_t call = a_.ops[item.index].call;
  return call == nothing ? 0 : a_.calls[call].start_ns - a_.origin_ns;
}

const CollectiveOp* RankEmitter::advance() {
  const Item& item = a_.items[next_++];
  begin_.push_back(make_id<TaskId>(builder_.size()));
  end_.push_back(begin_.back());
  switch (item.kind) {
    case Item::Kind::call: add_call(a_.calls[item.index]); break;
    case Item::Kind::finish: add_finish(a_.calls[item.index]); break;
    case Item::Kind::op: {
      const DeviceOp& op = a_.ops[item.index];
      add_op(op);
      const CollectiveOp* const collective =
          op.collective == nothing ? nullptr : &a_.collectives[op.collective];
      return collective != nullptr && collective->meets() ? collective : nullptr;
    }
  }
  return nullptr;
}

void RankEmitter::finish(std::span<const TaskId> joins) {
  const DeviceOp& op = a_.ops[a_.items[next_ - 1].index];
  const CollectiveOp& collective = a_.collectives[op.collective];
  TaskSpec task;
  task.lane = stream_lanes_[op.stream];
  task.kind = op.kind;
  task.work = works_.of_op(op, TaskPart::finish);
  task.duration_ns = collective.transfer_ns;
  task.phase = phase_of(op.event);
  task.layer = layer_of(op.event);
  task.step = op.call == nothing ? -1 : step_at(a_.calls[op.call].start_ns);
  end_.back() = add(task, collective.finish_start_ns);
  for (const TaskId join : joins) {
    builder_.add_dependency(
        {.source = end_of(join), .task = end_.back(), .kind = DependencyKind::rendezvous});
  }
}

TaskId RankEmitter::add(const TaskSpec& task, std::int64_t recorded_ns) {
  recorded_.push_back(recorded_ns - a_.origin_ns);
  const TaskId id = builder_.add_task(task);
  after_last_ = index(id) + 1;
  return id;
}

LayerId RankEmitter::layer_of(EventId event) const {
  const std::uint32_t module =
      event == none<EventId> || a_.annotation.layer.empty() ? 0 : a_.annotation.layer[index(event)];
  return layers_[module];
}

Phase RankEmitter::phase_of(EventId event) const {
  return event == none<EventId> ? Phase::unknown : a_.annotation.phase[index(event)];
}

/// The step whose window holds a time, or -1.
std::int32_t RankEmitter::step_at(std::int64_t time) const {
  const auto& steps = a_.annotation.steps;
  const auto after = std::partition_point(
      steps.begin(), steps.end(), [&](const StepWindow& step) { return step.start_ns <= time; });
  if (after == steps.begin() || (after - 1)->end_ns < time) return -1;
  return first_step_ + static_cast<std::int32_t>(after - 1 - steps.begin());
}

void RankEmitter::add_call(const HostCall& call) {
  TaskSpec task;
  task.lane = thread_lanes_[call.thread];
  task.kind = kind_of_call(call.kind);
  task.work =
      works_.of_call(call, task.kind, is_blocking(call.kind) ? TaskPart::begin : TaskPart::whole);
  task.segment_ns = call.segment_ns;
  const std::int64_t segment_end = call.start_ns - call.silent_ns;
  add_segment_parts(call.thread, segment_end - call.segment_ns, segment_end);
  task.phase = phase_of(call.event);
  task.layer = layer_of(call.event);
  task.step = step_at(call.start_ns);
  const bool no_time =
      is_mark(call.kind) || call.kind == CallKind::blocking_copy || call.kind == CallKind::free;
  task.duration_ns = no_time ? 0 : call.own_ns;
  const TaskId id = add(task, call.start_ns);
  if (call.handed_by != nothing) {
    builder_.add_dependency({.source = end_of(task_at(a_.calls[call.handed_by].position)),
                             .task = id,
                             .kind = DependencyKind::hand_over,
                             .lag_ns = call.hand_over_ns});
  }
}

/// Which named regions of the trace the segment before the next task covers.
void RankEmitter::add_segment_parts(std::uint32_t thread, std::int64_t from, std::int64_t to) {
  const auto& regions = a_.annotation.regions;
  const TrackId track = a_.threads[thread].track;
  std::size_t& at = region_[thread];
  if (at == 0) {
    at = static_cast<std::size_t>(
        std::partition_point(regions.begin(), regions.end(),
                             [&](const HostRegion& r) { return r.track < track; }) -
        regions.begin());
  }
  while (at < regions.size() && regions[at].track == track && regions[at].end_ns <= from) {
    ++at;
  }
  for (std::size_t i = at;
       i < regions.size() && regions[i].track == track && regions[i].start_ns < to; ++i) {
    const std::int64_t covered =
        std::min(regions[i].end_ns, to) - std::max(regions[i].start_ns, from);
    if (covered > 0) {
      builder_.add_segment_part({.task = make_id<TaskId>(builder_.size()),
                                 .label = works_.name(regions[i].name),
                                 .layer = layers_[regions[i].layer],
                                 .duration_ns = covered});
    }
  }
}

void RankEmitter::add_finish(const HostCall& call) {
  TaskSpec task;
  task.lane = thread_lanes_[call.thread];
  task.kind = TaskKind::synchronization;
  task.work = works_.of_call(call, task.kind, TaskPart::finish);
  task.phase = phase_of(call.event);
  task.layer = layer_of(call.event);
  task.step = step_at(call.start_ns);
  task.duration_ns = call.kind == CallKind::free ? call.own_ns : 0;
  const TaskId id = add(task, call.end_ns - task.duration_ns);
  if (call.kind == CallKind::blocking_copy) {
    builder_.add_dependency({.source = end_of(end_at(a_.ops[call.first_op].position)),
                             .task = id,
                             .kind = DependencyKind::synchronization,
                             .lag_ns = call.post_ns});
  }
}

void RankEmitter::add_op(const DeviceOp& op) {
  const CollectiveOp* const collective =
      op.collective == nothing ? nullptr : &a_.collectives[op.collective];
  const bool split = collective != nullptr && collective->waits();
  TaskSpec task;
  task.lane = stream_lanes_[op.stream];
  task.kind = op.kind;
  task.work = works_.of_op(op, split ? TaskPart::begin : TaskPart::whole);
  task.duration_ns = split ? 0 : op.end_ns - op.start_ns;
  task.segment_ns = op.gap_ns;
  task.phase = phase_of(op.event);
  task.layer = layer_of(op.event);
  const bool has_call = op.call != nothing;
  task.step = has_call ? step_at(a_.calls[op.call].start_ns) : -1;
  if (op.unrecorded_ns > 0 && split) {
    task.segment_ns += op.unrecorded_ns;  // what arrives must be the first of its tasks
  } else if (op.unrecorded_ns > 0) {
    add_unrecorded(op, task);
    task.segment_ns = 0;
  }
  end_.back() = add(task, op.start_ns);
  if (has_call) {
    const TaskId call = task_at(a_.calls[op.call].position);
    builder_.add_dependency({.source = op.anchored_at_start ? start_of(call) : end_of(call),
                             .task = begin_.back(),
                             .kind = DependencyKind::launch,
                             .lag_ns = op.latency_ns});
  }
}

/// Work of a device graph that was not recorded, right before an operation.
void RankEmitter::add_unrecorded(const DeviceOp& op, TaskSpec task) {
  Work work;
  work.kind = TaskKind::kernel;
  work.name = builder_.add_name("unrecorded work of a device graph");
  task.kind = TaskKind::kernel;
  task.work = builder_.add_work(work);
  task.duration_ns = op.unrecorded_ns;
  task.provenance = Provenance::assumed;
  add(task, op.start_ns - op.unrecorded_ns);
}

}  // namespace foretrace::trace::rules
