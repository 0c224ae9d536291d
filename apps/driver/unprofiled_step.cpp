#include "apps/driver/unprofiled_step.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/driver/steps/steps.h"
#include "sim/core/params.h"
#include "sim/core/text.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/change.h"
#include "sim/graph/links.h"

namespace foretrace::driver {
namespace {

using trace::EventKind;

/// The step must react to the host by more than this share, or its time says nothing of the host.
constexpr double least_reaction = 0.1;
/// More per event is no profiler's: with shapes and memory PyTorch's made steps that the host
/// limits 2 to 9 us longer per operator (DLRM in examples/11_h100: 14 ms for 2,237 operators).
constexpr std::int64_t most_per_event_ns = 20'000;

/// Events by task of the host: in the host time before it, and in the task itself.
struct HostEvents {
  std::vector<std::uint32_t> before;
  std::vector<std::uint32_t> inside;
};

bool is_recorded_by_host(EventKind kind) {
  return kind == EventKind::cpu_op || kind == EventKind::runtime ||
         kind == EventKind::python_function || kind == EventKind::user_annotation;
}

/// Times of the table at which something was recorded on each track, sorted.
std::vector<std::vector<std::int64_t>> records_of(const trace::EventTable& events) {
  std::vector<std::vector<std::int64_t>> times(events.tracks.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (is_recorded_by_host(events.kind[i])) {
      times[index(events.track[i])].push_back(events.start_ns[i]);
    }
  }
  for (const trace::MemoryEvent& event : events.memory) {
    times[index(event.track)].push_back(event.time_ns);
  }
  for (std::vector<std::int64_t>& list : times) {
    std::sort(list.begin(), list.end());
  }
  return times;
}

/// Gives the records of one thread to its tasks: to the task that they lie in, else to the host
/// time before the next.
void count_lane(const Recording& recording, TaskId first, const std::vector<std::int64_t>& times,
                HostEvents& found) {
  const TaskGraph& graph = recording.graph();
  const std::vector<std::int64_t>& starts = recording.built.recorded_start_ns;
  auto at = times.begin();
  TaskId before = none<TaskId>;
  std::int64_t before_end = std::numeric_limits<std::int64_t>::min();
  for (TaskId task = first; task != none<TaskId>; task = next_on_lane(graph, task)) {
    if (starts[index(task)] < 0) continue;  // the finish of a call: nothing of its own
    const std::int64_t start = recording.built.origin_ns + starts[index(task)];
    for (; at != times.end() && *at < start; ++at) {
      ++(*at < before_end ? found.inside[index(before)] : found.before[index(task)]);
    }
    before = task;
    before_end = start + graph.duration_ns(task);
  }
}

HostEvents events_of(const Recording& recording) {
  const TaskGraph& graph = recording.graph();
  HostEvents found{std::vector<std::uint32_t>(graph.size(), 0),
                   std::vector<std::uint32_t>(graph.size(), 0)};
  const trace::EventTable& events = recording.events;
  // Other recorders write a name and two times; PyTorch's writes shapes, stacks and memory too.
  const bool has_operators =
      events.info.format == "kineto_json" &&
      std::find(events.kind.begin(), events.kind.end(), EventKind::cpu_op) != events.kind.end();
  if (recording.job != nullptr || !has_operators ||
      recording.built.recorded_start_ns.size() != graph.size()) {
    return found;
  }
  const std::vector<std::vector<std::int64_t>> times = records_of(events);
  const std::vector<TrackId>& tracks = recording.built.thread_tracks;
  for (const TaskId first : first_on_lanes(graph, LaneKind::host_thread)) {
    if (first == none<TaskId>) continue;
    const std::size_t lane = index(graph.lane_id(first));
    if (lane < tracks.size() && tracks[lane] != none<TrackId>) {
      count_lane(recording, first, times[index(tracks[lane])], found);
    }
  }
  return found;
}

std::int64_t left(std::int64_t ns, std::uint32_t events, std::int64_t cost_ns) {
  const std::int64_t kept = std::llround(static_cast<double>(ns) * kept_of_host);
  return events == 0 ? ns : std::max(std::min(ns, kept), ns - events * cost_ns);
}

TaskGraph without(const TaskGraph& graph, const HostEvents& events, std::int64_t cost_ns) {
  Weights weights = graph.weights();
  auto durations = std::make_shared<std::vector<std::int64_t>>(*weights.duration_ns);
  auto segments = std::make_shared<std::vector<std::int64_t>>(*weights.segment_ns);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    (*durations)[i] = left((*durations)[i], events.inside[i], cost_ns);
    (*segments)[i] = left((*segments)[i], events.before[i], cost_ns);
  }
  weights.duration_ns = std::move(durations);
  weights.segment_ns = std::move(segments);
  return graph.with_weights(std::move(weights));
}

/// The recorded graph with that host: regions and moments in its segments move with them.
Result<TaskGraph> changed(const TaskGraph& recorded, const TaskGraph& lighter) {
  Change change;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (lighter.duration_ns(task) != recorded.duration_ns(task)) {
      change.durations.push_back({task, lighter.duration_ns(task), Provenance::scaled});
    }
    if (lighter.segment_ns(task) != recorded.segment_ns(task)) {
      change.segments.push_back({task, lighter.segment_ns(task), Provenance::scaled});
    }
  }
  auto committed = commit(recorded, change);
  if (!committed.ok()) return std::move(committed).error();
  return std::move(committed->graph);
}

Result<StepAnswer> step_of(const TaskGraph& graph) {
  return answer_of(simulated_steps(graph, simulate(graph)), StepChoice{});
}

std::string shown(std::int64_t ns) { return four_digit_time(static_cast<double>(ns)); }

Error refused(std::string text) {
  return Error{ErrorCode::bad_usage, "unprofiled step: " + std::move(text)};
}

std::int64_t host_ns(const TaskGraph& graph) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.lane(task).kind == LaneKind::host_thread) {
      sum += graph.duration_ns(task) + graph.segment_ns(task);
    }
  }
  return sum;
}

double per_step(const Recording& recording, const HostEvents& events) {
  double sum = 0;
  for (std::size_t i = 0; i < events.before.size(); ++i) {
    sum += events.before[i] + events.inside[i];
  }
  return sum / static_cast<double>(std::max<std::size_t>(1, recording.built.steps.size()));
}

/// What the step takes as recorded and with the least host.
struct Reaction {
  StepAnswer recorded;
  StepAnswer least;

  /// Below the least reaction the time of a step says nothing of the host.
  [[nodiscard]] bool tells_host() const {
    return 1 - static_cast<double>(least.step_ns) /
                   static_cast<double>(std::max<std::int64_t>(1, recorded.step_ns)) >=
           least_reaction;
  }
};

Result<Reaction> reaction_of(const TaskGraph& graph, const HostEvents& events) {
  const auto recorded = step_of(graph);
  if (!recorded.ok()) return recorded.error();
  const auto least = step_of(without(graph, events, most_per_event_ns));
  if (!least.ok()) return least.error();
  return Reaction{*recorded, *least};
}

}  // namespace

Result<std::int64_t> parse_unprofiled_step(std::string_view text) {
  if (text.empty()) return std::int64_t{0};
  const Result<double> step = parse_quantity(text, ParamType::time);
  if (step.ok() && *step >= 1 && *step < 1e17) return std::llround(*step);
  return refused(fmt::format("got {}, expected a time such as '6.09 ms'", in_quotes(text)));
}

double host_events_per_step(const Recording& recording) {
  return per_step(recording, events_of(recording));
}

bool step_tells_profiler(const Recording& recording) {
  const HostEvents events = events_of(recording);
  if (per_step(recording, events) == 0) return false;
  const auto reaction = reaction_of(recording.graph(), events);
  return reaction.ok() && reaction->tells_host();
}

Status take_out_profiler(std::int64_t step_ns, Recording& recording) {
  if (recording.job != nullptr) return refused("it is of one rank, got a job of several");
  const HostEvents events = events_of(recording);
  const double events_per_step = per_step(recording, events);
  if (events_per_step == 0) {
    return refused(
        "PyTorch's profiler recorded no operators, so that nothing tells the profiler's "
        "work from the program's");
  }
  const TaskGraph recorded = recording.graph();
  const auto reaction = reaction_of(recorded, events);
  if (!reaction.ok()) return reaction.error();
  const std::int64_t before_ns = reaction->recorded.step_ns;
  const std::int64_t least_ns = reaction->least.step_ns;
  if (step_ns >= before_ns) {
    return refused(fmt::format("expected less than the recorded {}, got {}", shown(before_ns),
                               shown(step_ns)));
  }
  if (!reaction->tells_host()) {
    return refused(
        fmt::format("the device limits the step: it takes {} as recorded and {} with "
                    "the least host, so that {} does not tell what the profiler cost; leave "
                    "the option out",
                    shown(before_ns), shown(least_ns), shown(step_ns)));
  }
  if (step_ns < least_ns) {
    return refused(fmt::format(
        "expected at least {}, which the step takes if each recorded event cost {} us and "
        "each piece of the host keeps {:.0f} % of its time, got {}: this recording is "
        "slower "
        "than by its profiler",
        shown(least_ns), most_per_event_ns / 1000, 100 * kept_of_host, shown(step_ns)));
  }
  std::int64_t cost = 0;  // too little; `most` is enough
  std::int64_t most = most_per_event_ns;
  while (most - cost > 1) {
    const std::int64_t middle = cost + (most - cost) / 2;
    const auto step = step_of(without(recorded, events, middle));
    if (!step.ok()) return step.error();
    (step->step_ns > step_ns ? cost : most) = middle;
  }
  auto graph = changed(recorded, without(recorded, events, most));
  if (!graph.ok()) return std::move(graph).error();
  recording.built.graph = std::move(*graph);
  const std::int64_t was = host_ns(recorded);
  const std::int64_t gone = was - host_ns(recording.graph());
  recording.unprofiled =
      Unprofiled{step_ns, before_ns, most, events_per_step,
                 static_cast<double>(gone) / static_cast<double>(std::max<std::int64_t>(1, was))};
  // What answers are held against is of the same host.
  trace::Honesty& honesty = recording.built.honesty;
  honesty.host_only_ns = std::max<std::int64_t>(0, honesty.host_only_ns - gone);
  honesty.span_ns = simulate(recording.graph()).span_ns;
  return ok_status();
}

}  // namespace foretrace::driver
