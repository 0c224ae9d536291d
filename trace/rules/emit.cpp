#include "trace/rules/emit.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/graph/graph_builder.h"
#include "trace/rules/constants.h"
#include "trace/rules/device_info.h"
#include "trace/rules/tensors.h"
#include "trace/rules/work_table.h"

namespace foretrace::trace::rules {
namespace {

/// Position of an item is the id of its task: every item becomes exactly one task.
TaskId task_at(std::uint32_t position) { return TaskId{position}; }

class Emitter {
 public:
  explicit Emitter(Assembly& assembly)
      : a_(assembly),
        rank_(std::max(0, assembly.events.info.rank)),
        works_(assembly, builder_),
        thread_end_(assembly.threads.size(), assembly.origin_ns),
        region_(assembly.threads.size(), 0) {}

  Result<BuiltGraph> run() {
    add_lanes();
    add_context();
    for (std::size_t position = 0; position < a_.items.size(); ++position) {
      const Item& item = a_.items[position];
      switch (item.kind) {
        case Item::Kind::call: add_call(a_.calls[item.index]); break;
        case Item::Kind::finish: add_finish(a_.calls[item.index]); break;
        case Item::Kind::op: add_op(a_.ops[item.index]); break;
      }
    }
    add_waits();
    add_steps();
    add_tensors(a_, builder_);
    std::vector<TaskId> new_id;
    Result<TaskGraph> graph = std::move(builder_).build(new_id);
    if (!graph) {
      return std::move(graph).error();
    }
    BuiltGraph built{.graph = std::move(graph).value(), .honesty = a_.honesty, .steps = measured_};
    built.recorded_start_ns.resize(recorded_.size());
    for (std::size_t i = 0; i < recorded_.size(); ++i) {
      const std::size_t at = new_id.empty() ? i : index(new_id[i]);
      built.recorded_start_ns[at] = recorded_[i];
    }
    return built;
  }

 private:
  void add_lanes() {
    for (const HostThread& thread : a_.threads) {
      const Track& track = a_.events.tracks[index(thread.track)];
      thread_lanes_.push_back(
          builder_.add_lane({.kind = LaneKind::host_thread,
                             .rank = rank_,
                             .number = track.number,
                             .name = std::string(a_.events.names[track.name])}));
    }
    const bool limited = !a_.events.info.is_hip && a_.options.rules.queue_depth;
    for (const Stream& stream : a_.streams) {
      stream_lanes_.push_back(builder_.add_lane({.kind = LaneKind::stream,
                                                 .rank = rank_,
                                                 .device = stream.device,
                                                 .number = stream.number,
                                                 .queue_depth = limited ? cuda_queue_depth : 0,
                                                 .name = {}}));
    }
  }

  void add_context() {
    builder_.add_rank_class({.first_rank = rank_, .multiplicity = 1});
    for (const DeviceProperties& device : a_.events.info.devices) {
      builder_.add_device(device_info(device, rank_));
    }
    const auto& modules = a_.annotation.modules;
    for (std::size_t i = 1; i < modules.size(); ++i) {
      layers_.push_back(
          builder_.add_layer(modules[i].name, modules[i].parent == 0 || modules[i].parent >= i
                                                  ? none<LayerId>
                                                  : layers_[modules[i].parent]));
    }
  }

  [[nodiscard]] LayerId layer_of(EventId event) const {
    const std::uint32_t module = event == none<EventId> || a_.annotation.layer.empty()
                                     ? 0
                                     : a_.annotation.layer[index(event)];
    return layers_[module];
  }
  [[nodiscard]] Phase phase_of(EventId event) const {
    return event == none<EventId> ? Phase::unknown : a_.annotation.phase[index(event)];
  }

  /// The step whose window holds a time, or -1.
  [[nodiscard]] std::int32_t step_at(std::int64_t time) const {
    const auto& steps = a_.annotation.steps;
    const auto after = std::partition_point(
        steps.begin(), steps.end(), [&](const StepWindow& step) { return step.start_ns <= time; });
    if (after == steps.begin() || (after - 1)->end_ns < time) {
      return -1;
    }
    return static_cast<std::int32_t>(after - 1 - steps.begin());
  }

  static TaskKind kind_of_call(CallKind kind) {
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

  void add_call(const HostCall& call) {
    TaskSpec task;
    task.lane = thread_lanes_[call.thread];
    task.kind = kind_of_call(call.kind);
    task.work =
        works_.of_call(call, task.kind, is_blocking(call.kind) ? TaskPart::begin : TaskPart::whole);
    task.segment_ns = segment_before(call);
    task.phase = phase_of(call.event);
    task.layer = layer_of(call.event);
    task.step = step_at(call.start_ns);
    const bool no_time =
        is_mark(call.kind) || call.kind == CallKind::blocking_copy || call.kind == CallKind::free;
    task.duration_ns = no_time ? 0 : call.own_ns;
    const TaskId id = builder_.add_task(task);
    recorded_.push_back(call.start_ns - a_.origin_ns);
    if (call.handed_by != nothing) {
      builder_.add_dependency({.source = end_of(task_at(a_.calls[call.handed_by].position)),
                               .task = id,
                               .kind = DependencyKind::hand_over,
                               .lag_ns = call.hand_over_ns});
    }
    thread_end_[call.thread] = is_blocking(call.kind) ? call.start_ns : call.end_ns;
  }

  /// Host time of the thread before the call, without waiting for other threads.
  std::int64_t segment_before(const HostCall& call) {
    if (call.kind == CallKind::thread_first && call.handed_by != nothing) {
      return 0;
    }
    const std::int64_t from = thread_end_[call.thread];
    const std::int64_t segment = std::max<std::int64_t>(0, call.start_ns - from - call.silent_ns);
    add_segment_parts(call.thread, from, from + segment);
    return a_.options.rules.host_gaps || call.kind == CallKind::thread_first ? segment : 0;
  }

  /// Which named regions of the trace the segment before the next task covers.
  void add_segment_parts(std::uint32_t thread, std::int64_t from, std::int64_t to) {
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

  void add_finish(const HostCall& call) {
    TaskSpec task;
    task.lane = thread_lanes_[call.thread];
    task.kind = TaskKind::synchronization;
    task.work = works_.of_call(call, task.kind, TaskPart::finish);
    task.phase = phase_of(call.event);
    task.layer = layer_of(call.event);
    task.step = step_at(call.start_ns);
    task.duration_ns = call.kind == CallKind::free ? call.own_ns : 0;
    const TaskId id = builder_.add_task(task);
    recorded_.push_back(call.end_ns - task.duration_ns - a_.origin_ns);
    if (call.kind == CallKind::blocking_copy) {
      builder_.add_dependency({.source = end_of(task_at(a_.ops[call.first_op].position)),
                               .task = id,
                               .kind = DependencyKind::synchronization,
                               .lag_ns = call.post_ns});
    }
    thread_end_[call.thread] = call.end_ns;
  }

  void add_op(const DeviceOp& op) {
    TaskSpec task;
    task.lane = stream_lanes_[op.stream];
    task.kind = op.kind;
    task.work = works_.of_op(op);
    task.duration_ns = op.end_ns - op.start_ns;
    task.segment_ns = op.gap_ns;
    task.phase = phase_of(op.event);
    task.layer = layer_of(op.event);
    const bool has_call = op.call != nothing;
    task.step = has_call ? step_at(a_.calls[op.call].start_ns) : -1;
    const TaskId id = builder_.add_task(task);
    recorded_.push_back(op.start_ns - a_.origin_ns);
    if (has_call) {
      const TaskId call = task_at(a_.calls[op.call].position);
      builder_.add_dependency({.source = op.anchored_at_start ? start_of(call) : end_of(call),
                               .task = id,
                               .kind = DependencyKind::launch,
                               .lag_ns = op.latency_ns});
    }
  }

  void add_waits() {
    for (const Source& source : a_.sources) {
      const DeviceOp& from = a_.ops[source.source_op];
      const TaskId task = task_at(a_.ops[source.op].position);
      if (source.fraction >= 0) {
        builder_.add_dependency({.source = start_of(task_at(from.position)),
                                 .task = task,
                                 .kind = DependencyKind::capacity,
                                 .fraction = source.fraction});
      } else if (source.at == nothing) {
        builder_.add_dependency({.source = end_of(task_at(from.position)),
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

  void add_steps() {
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
        std::int64_t& first = measured_[static_cast<std::size_t>(step)].first_device_start_ns;
        const std::int64_t start = op.start_ns - a_.origin_ns;
        first = first < 0 ? start : std::min(first, start);
      }
    }
    for (const Step& step : steps) {
      builder_.add_step(step);
    }
  }

  Assembly& a_;
  GraphBuilder builder_;
  std::int32_t rank_;
  WorkTable works_;
  std::vector<LaneId> thread_lanes_;
  std::vector<LaneId> stream_lanes_;
  std::vector<LayerId> layers_{LayerId{0}};
  std::vector<std::int64_t> thread_end_;
  std::vector<std::size_t> region_;
  std::vector<std::int64_t> recorded_;
  std::vector<MeasuredStep> measured_;
};

}  // namespace

Result<BuiltGraph> emit(Assembly& assembly) { return Emitter(assembly).run(); }

}  // namespace foretrace::trace::rules
