#include "sim/result/device_steps.h"

#include <algorithm>
#include <map>

#include "sim/core/result.h"
#include "sim/graph/links.h"
#include "sim/result/step_count.h"

namespace foretrace {
namespace {

/// A stretch in which a task is on its device.
struct Stretch {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t gap_ns = 0;  ///< that the stream needs before it
  TaskId task{};
  bool waits = false;  ///< for late ranks
};

bool begins_earlier(const Stretch& a, const Stretch& b) { return a.begin_ns < b.begin_ns; }

/// Adds what a rank's stretches take, in order of time: only what nothing before them covers.
class Counter {
 public:
  Counter(const TaskGraph& graph, std::vector<DeviceStep>& steps) : graph_(graph), steps_(steps) {}

  void add(const Stretch& stretch) {
    const std::int32_t number = graph_.step(stretch.task);
    const auto uncovered = [&](std::int64_t& to_ns) {
      return uncovered_ns(stretch.begin_ns, stretch.end_ns, stretch.gap_ns, to_ns);
    };
    const std::int64_t occupied = uncovered(occupied_to_ns_);
    const std::int64_t worked = stretch.waits ? 0 : uncovered(worked_to_ns_);
    occupied_ns_ += occupied;
    if (number < 0) return;
    DeviceStep& step = steps_[static_cast<std::size_t>(number)];
    step.work_ns += worked;
    step.occupied_ns += occupied;
    extend_step(step, stretch.task, stretch.begin_ns, stretch.end_ns);
    step.operations += stretch.waits ? 0 : 1;
  }

  [[nodiscard]] std::int64_t occupied_ns() const { return occupied_ns_; }

 private:
  const TaskGraph& graph_;
  std::vector<DeviceStep>& steps_;
  std::int64_t worked_to_ns_ = -1;
  std::int64_t occupied_to_ns_ = -1;
  std::int64_t occupied_ns_ = 0;
};

constexpr std::size_t few_streams = 8;

/// Stretches of a rank, one run per stream; runs are in order of time unless a policy orders them.
struct RankStretches {
  std::map<LaneId, std::vector<Stretch>> streams;

  [[nodiscard]] std::vector<Stretch> in_order() const {
    std::vector<Stretch> all;
    // Merging goes once over everything per stream: cheap while there are few of them.
    bool merges = streams.size() <= few_streams;
    for (const auto& [lane, run] : streams) {
      const auto middle = static_cast<std::ptrdiff_t>(all.size());
      all.insert(all.end(), run.begin(), run.end());
      merges = merges && std::is_sorted(run.begin(), run.end(), begins_earlier);
      if (merges) {
        std::inplace_merge(all.begin(), all.begin() + middle, all.end(), begins_earlier);
      }
    }
    if (!std::is_sorted(all.begin(), all.end(), begins_earlier)) {
      std::stable_sort(all.begin(), all.end(), begins_earlier);
    }
    return all;
  }
};

void add_task(const TaskGraph& graph, const Timeline& timeline, TaskId task, RankStretches& rank) {
  const std::int64_t start = timeline.start_ns(task);
  std::vector<Stretch>& run = rank.streams[graph.lane_id(task)];
  const TaskPart part = graph.work(task).part;
  if (part == TaskPart::finish) {
    const Sources before = sources(graph, task);
    const bool arrived = before.begin() != before.end() && (*before.begin()).on_lane();
    const std::int64_t from = arrived ? timeline.points[index((*before.begin()).source)] : start;
    if (from >= 0 && from < start) {
      run.push_back({from, start, 0, task, true});
    }
  }
  run.push_back(
      {start, timeline.end_ns(task), graph.segment_ns(task), task, part == TaskPart::begin});
}

std::map<std::int32_t, RankStretches> stretches_of(const TaskGraph& graph,
                                                   const Timeline& timeline) {
  FORETRACE_CHECK(timeline.size() >= graph.size());
  std::map<std::int32_t, RankStretches> ranks;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (is_device(graph.kind(task)) && timeline.start_ns(task) >= 0) {
      add_task(graph, timeline, task, ranks[graph.lane(task).rank]);
    }
  }
  return ranks;
}

/// Adds what a stream does for each step, in order of time.
void add_stream(const TaskGraph& graph, LaneId lane, const std::vector<Stretch>& run,
                std::vector<DeviceStep>& steps) {
  std::int64_t to_ns = -1;
  for (const Stretch& stretch : run) {
    const std::int32_t step = graph.step(stretch.task);
    if (stretch.waits) continue;
    const std::int64_t own = uncovered_ns(stretch.begin_ns, stretch.end_ns, stretch.gap_ns, to_ns);
    if (step < 0) continue;
    auto& streams = steps[static_cast<std::size_t>(step)].streams;
    if (streams.empty() || streams.back().first != lane) streams.emplace_back(lane, 0);
    streams.back().second += own;
  }
}

void add_streams(const TaskGraph& graph, const RankStretches& rank,
                 std::vector<DeviceStep>& steps) {
  for (const auto& [lane, run] : rank.streams) {
    if (std::is_sorted(run.begin(), run.end(), begins_earlier)) {
      add_stream(graph, lane, run, steps);
    } else {
      std::vector<Stretch> sorted = run;
      std::stable_sort(sorted.begin(), sorted.end(), begins_earlier);
      add_stream(graph, lane, sorted, steps);
    }
  }
}

/// Fills the steps; returns the longest time that a rank's device is occupied.
std::int64_t count(const TaskGraph& graph, const Timeline& timeline,
                   std::vector<DeviceStep>& steps) {
  std::int64_t longest = 0;
  for (const auto& [rank, stretches] : stretches_of(graph, timeline)) {
    Counter counter(graph, steps);
    for (const Stretch& stretch : stretches.in_order()) {
      counter.add(stretch);
    }
    if (!steps.empty()) {
      add_streams(graph, stretches, steps);
    }
    longest = std::max(longest, counter.occupied_ns());
  }
  return longest;
}

}  // namespace

std::vector<DeviceStep> device_steps(const TaskGraph& graph, const Timeline& timeline) {
  std::vector<DeviceStep> steps(graph.context().steps.size());
  if (!steps.empty()) {
    (void)count(graph, timeline, steps);
  }
  return steps;
}

std::int64_t device_occupied_ns(const TaskGraph& graph, const Timeline& timeline) {
  std::vector<DeviceStep> steps(graph.context().steps.size());
  return count(graph, timeline, steps);
}

}  // namespace foretrace
