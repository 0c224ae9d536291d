#include "apps/session/recording/host_events.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "sim/graph/links.h"

namespace foretrace {
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

}  // namespace foretrace
