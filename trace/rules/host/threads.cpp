// Threads and calls: which host threads matter, which of their calls become tasks, and what each
// call launched.
#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

#include "sim/core/text.h"
#include "trace/annotate/names.h"
#include "trace/rules/assembly/assembly.h"
#include "trace/rules/assembly/rule.h"

namespace foretrace::trace::rules::threads_parts {
namespace {

constexpr std::uint8_t uninteresting = 0xFF;

/// The kind of a runtime call that owns no device work; `uninteresting` if it is just host time.
std::uint8_t kind_of_name(std::string_view name) {
  const auto code = [](CallKind kind) { return static_cast<std::uint8_t>(kind); };
  if (contains(name, "StreamSynchronize")) return code(CallKind::stream_sync);
  if (contains(name, "DeviceSynchronize") || contains(name, "CtxSynchronize") ||
      contains(name, "ThreadSynchronize")) {
    return code(CallKind::device_sync);
  }
  if (contains(name, "EventSynchronize")) return code(CallKind::event_sync);
  if (name == "cudaFree" || name == "hipFree" || name == "cuMemFree" || name == "cuMemFree_v2") {
    return code(CallKind::free);
  }
  if (contains(name, "EventRecord")) return code(CallKind::event_record);
  if (contains(name, "StreamWaitEvent")) return code(CallKind::stream_wait);
  return uninteresting;
}

/// Starts of the calls of the runtime, by thread.
class RecordedCalls {
 public:
  void add(TrackId track, std::int64_t start_ns) { rows_.emplace_back(track, start_ns); }
  void sort() { std::sort(rows_.begin(), rows_.end()); }
  [[nodiscard]] bool any_in(TrackId track, std::int64_t from_ns, std::int64_t to_ns) const {
    const auto first = std::lower_bound(rows_.begin(), rows_.end(), Row(track, from_ns));
    return first != rows_.end() && *first < Row(track, to_ns);
  }

 private:
  using Row = std::pair<TrackId, std::int64_t>;
  std::vector<Row> rows_;
};

/// JAX waits for its arrays inside the runtime of XLA, which records no call of CUDA: the Python
/// frame ("$api.py:2757 block_until_ready") is all that shows it. A wait for a tree of arrays may
/// call that of each: the outermost frames count. A frame of this name with recorded calls inside
/// is another's: it does work, and its calls tell whom it waits for.
std::vector<bool> waits_for_arrays(const EventTable& events) {
  std::vector<bool> waits(events.size(), false);
  std::vector<std::uint8_t> by_name(events.names.size(), 2);  // 2: not looked at
  std::vector<std::tuple<TrackId, std::int64_t, std::int64_t, std::size_t>> frames;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.kind[i] != EventKind::python_function) continue;
    std::uint8_t& is_wait = by_name[index(events.name[i])];
    const auto event = make_id<EventId>(i);
    if (is_wait == 2) is_wait = events.name_of(event).ends_with(" block_until_ready") ? 1 : 0;
    if (is_wait == 1) {
      frames.emplace_back(events.track[i], events.start_ns[i], -events.end_ns(event), i);
    }
  }
  if (frames.empty()) return waits;
  RecordedCalls calls;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events.kind[i] == EventKind::runtime) calls.add(events.track[i], events.start_ns[i]);
  }
  calls.sort();
  std::sort(frames.begin(), frames.end());
  TrackId track = none<TrackId>;
  std::int64_t until = 0;
  for (const auto& [on, start, minus_end, event] : frames) {
    if (calls.any_in(on, start, -minus_end)) continue;
    waits[event] = on != track || start >= until;
    until = waits[event] ? -minus_end : until;
    track = on;
  }
  return waits;
}

TaskKind task_kind(EventKind kind, std::string_view name) {
  if (kind == EventKind::copy) return TaskKind::copy;
  if (kind == EventKind::set) return TaskKind::set;
  return is_collective_kernel(name) ? TaskKind::collective : TaskKind::kernel;
}

/// Runtime calls by correlation, for the launch edge.
class Launches {
 public:
  explicit Launches(const EventTable& events) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events.kind[i] == EventKind::runtime && events.correlation[i] != 0) {
        rows_.emplace_back(events.correlation[i], events.start_ns[i],
                           static_cast<std::uint32_t>(i));
      }
    }
    std::sort(rows_.begin(), rows_.end());
  }
  /// The call of this correlation; of several (ids restart per process) the last one not after
  /// `start_ns`, else the first.
  [[nodiscard]] std::uint32_t find(std::uint32_t correlation, std::int64_t start_ns) const {
    const auto after =
        std::upper_bound(rows_.begin(), rows_.end(), Row(correlation, start_ns, nothing));
    if (after != rows_.begin() && std::get<0>(*(after - 1)) == correlation) {
      return std::get<2>(*(after - 1));
    }
    return after != rows_.end() && std::get<0>(*after) == correlation ? std::get<2>(*after)
                                                                      : nothing;
  }

 private:
  using Row = std::tuple<std::uint32_t, std::int64_t, std::uint32_t>;  // with start and event
  std::vector<Row> rows_;
};

void collect_device_ops(Assembly& assembly, std::vector<std::uint32_t>& call_event_of_op) {
  const EventTable& events = assembly.events;
  const Launches launches(events);
  std::vector<std::uint32_t> stream_of_track(events.tracks.size(), nothing);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto event = make_id<EventId>(i);
    if (!events.is_device_event(event)) continue;
    const std::size_t track = index(events.track[i]);
    if (stream_of_track[track] == nothing) {
      stream_of_track[track] = static_cast<std::uint32_t>(assembly.streams.size());
      const Track& row = events.tracks[track];
      assembly.streams.push_back(
          {.track = events.track[i], .device = row.device, .number = row.number, .ops = {}});
    }
    DeviceOp op;
    op.event = event;
    op.kind = task_kind(events.kind[i], events.name_of(event));
    op.stream = stream_of_track[track];
    op.start_ns = events.start_ns[i];
    op.end_ns = events.end_ns(event);
    assembly.ops.push_back(op);
    call_event_of_op.push_back(
        events.correlation[i] == 0 ? nothing : launches.find(events.correlation[i], op.start_ns));
  }
}

/// Sorts operations by their call and classifies calls that own some. Those without a call are kept
/// apart.
void attach_ops(Assembly& assembly, const std::vector<std::uint32_t>& call_of_event,
                const std::vector<std::uint32_t>& call_event_of_op) {
  auto& ops = assembly.ops;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::uint32_t event = call_event_of_op[i];
    ops[i].call = event == nothing ? nothing : call_of_event[event];
  }
  std::sort(ops.begin(), ops.end(), [](const DeviceOp& a, const DeviceOp& b) {
    return std::tuple(a.call, a.start_ns, a.end_ns, a.event) <
           std::tuple(b.call, b.start_ns, b.end_ns, b.event);
  });
  const auto launched = std::partition_point(ops.begin(), ops.end(),
                                             [](const DeviceOp& op) { return op.call != nothing; });
  assembly.without_call.assign(launched, ops.end());
  ops.erase(launched, ops.end());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    HostCall& call = assembly.calls[ops[i].call];
    if (call.op_count++ == 0) {
      call.first_op = static_cast<std::uint32_t>(i);
    }
  }
  for (HostCall& call : assembly.calls) {
    if (call.op_count > 0) {
      const bool is_graph = call.op_count > 1 || contains(assembly.api(call), "GraphLaunch");
      call.kind = is_graph ? CallKind::graph_launch : CallKind::launch;
    }
  }
}

void extend(HostThread& thread, std::int64_t start_ns, std::int64_t end_ns) {
  thread.first_ns = std::min(thread.first_ns, start_ns);
  thread.last_ns = std::max({thread.last_ns, start_ns, end_ns});
}

std::vector<std::uint32_t> kept_threads(Assembly& assembly,
                                        const std::vector<std::uint32_t>& call_event_of_op) {
  const EventTable& events = assembly.events;
  std::vector<std::uint32_t> thread_of_track(events.tracks.size(), nothing);
  std::vector<bool> keep(events.tracks.size(), false);
  for (const std::uint32_t event : call_event_of_op) {
    if (event != nothing) {
      keep[index(events.track[event])] = true;
    }
  }
  for (const StepWindow& step : assembly.annotation.steps) {
    keep[index(step.track)] = true;
  }
  if (std::find(keep.begin(), keep.end(), true) == keep.end()) {
    // No device work and no steps: whoever runs operators.
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events.kind[i] == EventKind::cpu_op) {
        keep[index(events.track[i])] = true;
      }
    }
  }
  for (std::size_t track = 0; track < keep.size(); ++track) {
    if (keep[track]) {
      thread_of_track[track] = static_cast<std::uint32_t>(assembly.threads.size());
      assembly.threads.push_back({.track = make_id<TrackId>(track),
                                  .first_ns = std::numeric_limits<std::int64_t>::max(),
                                  .last_ns = std::numeric_limits<std::int64_t>::min(),
                                  .calls = {}});
    }
  }
  // A step counts even where nothing else of its thread does, so that no thread is empty.
  for (const StepWindow& step : assembly.annotation.steps) {
    extend(assembly.threads[thread_of_track[index(step.track)]], step.start_ns, step.end_ns);
  }
  return thread_of_track;
}

void add_mark(Assembly& assembly, std::uint32_t thread, CallKind kind, std::int64_t time,
              std::int32_t step = -1) {
  HostCall mark;
  mark.kind = kind;
  mark.thread = thread;
  mark.start_ns = mark.end_ns = time;
  mark.step = step;
  assembly.threads[thread].calls.push_back(static_cast<std::uint32_t>(assembly.calls.size()));
  assembly.calls.push_back(mark);
}

void add_marks(Assembly& assembly, const std::vector<std::uint32_t>& thread_of_track) {
  for (std::size_t thread = 0; thread < assembly.threads.size(); ++thread) {
    const auto id = static_cast<std::uint32_t>(thread);
    add_mark(assembly, id, CallKind::thread_first, assembly.threads[thread].first_ns);
    add_mark(assembly, id, CallKind::thread_last, assembly.threads[thread].last_ns);
  }
  const auto& steps = assembly.annotation.steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::uint32_t thread = thread_of_track[index(steps[i].track)];
    add_mark(assembly, thread, CallKind::step_begin, steps[i].start_ns,
             static_cast<std::int32_t>(i));
    add_mark(assembly, thread, CallKind::step_end, steps[i].end_ns, static_cast<std::int32_t>(i));
  }
}

/// Calls and extents of every kept thread. Fills call_of_event.
void collect_calls(Assembly& assembly, const std::vector<std::uint32_t>& thread_of_track,
                   const std::vector<std::uint32_t>& call_event_of_op,
                   std::vector<std::uint32_t>& call_of_event) {
  const EventTable& events = assembly.events;
  std::vector<bool> launches(events.size(), false);
  for (const std::uint32_t event : call_event_of_op) {
    if (event != nothing) {
      launches[event] = true;
    }
  }
  std::vector<std::uint8_t> kind_by_name(events.names.size(), 0xFE);
  const std::vector<bool> waits = waits_for_arrays(events);
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::uint32_t thread = thread_of_track[index(events.track[i])];
    if (thread == nothing || events.kind[i] == EventKind::other ||
        events.kind[i] == EventKind::overhead) {
      continue;
    }
    HostThread& row = assembly.threads[thread];
    const auto event = make_id<EventId>(i);
    extend(row, events.start_ns[i], events.end_ns(event));
    if (events.kind[i] != EventKind::runtime && !waits[i]) continue;
    std::uint8_t& kind = kind_by_name[index(events.name[i])];
    if (kind == 0xFE) {
      kind = waits[i] ? static_cast<std::uint8_t>(CallKind::device_sync)
                      : kind_of_name(events.name_of(event));
    }
    if (kind == uninteresting && !launches[i]) continue;
    HostCall call;
    call.event = event;
    call.api = events.name[i];
    call.kind = kind == uninteresting ? CallKind::launch : static_cast<CallKind>(kind);
    call.thread = thread;
    call.start_ns = events.start_ns[i];
    call.end_ns = std::max(call.start_ns, events.end_ns(event));
    call_of_event[i] = static_cast<std::uint32_t>(assembly.calls.size());
    row.calls.push_back(call_of_event[i]);
    assembly.calls.push_back(call);
  }
}

void find_threads(Assembly& assembly) {
  std::vector<std::uint32_t> call_event_of_op;
  collect_device_ops(assembly, call_event_of_op);
  const std::vector<std::uint32_t> thread_of_track = kept_threads(assembly, call_event_of_op);
  std::vector<std::uint32_t> call_of_event(assembly.events.size(), nothing);
  collect_calls(assembly, thread_of_track, call_event_of_op, call_of_event);
  attach_ops(assembly, call_of_event, call_event_of_op);
  add_marks(assembly, thread_of_track);
}

}  // namespace

extern constexpr Rule info = {
    .name = "threads",
    .doc =
        "threads that launch work or carry steps, their calls that matter, and what each call "
        "launched; frames of Python in which JAX waits for its arrays (those without a recorded "
        "call inside)",
    .stage = Stage::collect,
    .required = true,
    .apply = find_threads};

}  // namespace foretrace::trace::rules::threads_parts
