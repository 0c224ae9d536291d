#include "apps/driver/host_events.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "sim/core/whole.h"
#include "sim/graph/links.h"

namespace foretrace::driver {
namespace {

using trace::EventKind;

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

std::int64_t left(std::int64_t ns, std::uint32_t events, std::int64_t cost_ns) {
  const std::int64_t kept = to_whole(static_cast<double>(ns) * kept_of_host);
  return events == 0 ? ns : std::max(std::min(ns, kept), ns - events * cost_ns);
}

/// `now` with the share that is left of what was recorded.
std::int64_t share_left(std::int64_t now, std::int64_t recorded, std::int64_t lighter) {
  if (recorded == lighter || recorded <= 0) return now;
  return to_whole(static_cast<double>(now) * static_cast<double>(lighter) /
                  static_cast<double>(recorded));
}

}  // namespace

HostEvents host_events(const Recording& recording) {
  const TaskGraph& graph = recording.graph();
  HostEvents found{std::vector<std::uint32_t>(graph.size(), 0),
                   std::vector<std::uint32_t>(graph.size(), 0), 0};
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
  const std::uint64_t all =
      std::accumulate(found.before.begin(), found.before.end(), std::uint64_t{0}) +
      std::accumulate(found.inside.begin(), found.inside.end(), std::uint64_t{0});
  found.per_step = static_cast<double>(all) /
                   static_cast<double>(std::max<std::size_t>(1, recording.built.steps.size()));
  return found;
}

TaskGraph without_events(const TaskGraph& recorded, const HostEvents& events,
                         std::int64_t cost_ns) {
  Weights weights = recorded.weights();
  auto durations = std::make_shared<std::vector<std::int64_t>>(*weights.duration_ns);
  auto segments = std::make_shared<std::vector<std::int64_t>>(*weights.segment_ns);
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    (*durations)[i] = left((*durations)[i], events.inside[i], cost_ns);
    (*segments)[i] = left((*segments)[i], events.before[i], cost_ns);
  }
  weights.duration_ns = std::move(durations);
  weights.segment_ns = std::move(segments);
  return recorded.with_weights(std::move(weights));
}

TaskGraph without_events(const TaskGraph& changed, std::span<const TaskId> origin,
                         const TaskGraph& recorded, const TaskGraph& lighter) {
  Weights weights = changed.weights();
  auto durations = std::make_shared<std::vector<std::int64_t>>(*weights.duration_ns);
  auto segments = std::make_shared<std::vector<std::int64_t>>(*weights.segment_ns);
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const TaskId was = origin.empty() ? make_id<TaskId>(i) : origin[i];
    if (was == none<TaskId>) continue;
    (*durations)[i] =
        share_left((*durations)[i], recorded.duration_ns(was), lighter.duration_ns(was));
    (*segments)[i] = share_left((*segments)[i], recorded.segment_ns(was), lighter.segment_ns(was));
  }
  weights.duration_ns = std::move(durations);
  weights.segment_ns = std::move(segments);
  return changed.with_weights(std::move(weights));
}

namespace {

Result<LighterHost> lighter_host(const Recording& recording, const RunOptions& options) {
  LighterHost lighter;
  const HostEvents events = host_events(recording);
  if (events.per_step == 0) return lighter;
  lighter.events_per_step = events.per_step;
  lighter.graph = without_events(recording.graph(), events, likely_event_ns);
  const Result<Run> run = simulate_run(lighter.graph, options);
  if (!run.ok()) return run.error();
  lighter.step_ns = run->answer.step_ns;
  return lighter;
}

}  // namespace

const Result<LighterHost>& LighterHostOnce::of(const Recording& recording,
                                               const RunOptions& options) const {
  std::call_once(once_, [&] { made_ = lighter_host(recording, options); });
  return made_;
}

}  // namespace foretrace::driver
