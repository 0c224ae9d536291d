#include "apps/driver/predictor/step_clock.h"

#include <algorithm>
#include <array>
#include <limits>

#include "sim/result/step_count.h"

namespace foretrace {
namespace {

constexpr std::size_t most_streams = 16;
constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::optional<StepClock> StepClock::of(const TaskGraph& graph) {
  StepClock clock;
  clock.steps_ = graph.context().steps;
  if (clock.steps_.empty()) return std::nullopt;
  const auto& lanes = graph.context().lanes;
  for (const Lane& lane : lanes) {
    if (lane.rank != clock.steps_.front().rank || lane.policy != LanePolicy::program_order) {
      return std::nullopt;
    }
  }
  std::vector<std::size_t> stream_of(lanes.size(), lanes.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    for (std::size_t i = 0; i < graph.size() && stream_of[lane] == lanes.size(); ++i) {
      const auto task = make_id<TaskId>(i);
      if (index(graph.lane_id(task)) != lane || !is_device(graph.kind(task))) continue;
      stream_of[lane] = clock.streams_.size();
      clock.streams_.emplace_back();
    }
  }
  if (clock.streams_.size() > most_streams) return std::nullopt;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (!is_device(graph.kind(task))) continue;
    const TaskPart part = graph.work(task).part;
    if (part == TaskPart::begin || part == TaskPart::finish) return std::nullopt;
    clock.streams_[stream_of[index(graph.lane_id(task))]].operations.push_back(
        {static_cast<std::uint32_t>(i), graph.step(task)});
  }
  return clock;
}

void StepClock::read(const Timeline& timeline, const std::vector<std::int64_t>& segment_ns,
                     driver::StepTimes& times) const {
  const std::int64_t* points = timeline.points.data();
  times.numbers.clear();
  times.begin_ns.clear();
  times.host_ns.clear();
  times.device.assign(steps_.size(), {});
  times.device_ns.clear();
  times.reach_ns.clear();
  for (const Step& step : steps_) {
    const std::int64_t begin_ns = points[2 * index(step.begin)];
    times.numbers.push_back(step.number);
    times.begin_ns.push_back(begin_ns);
    times.host_ns.push_back(points[2 * index(step.end)] - begin_ns);
  }
  // The stream whose next operation begins first goes on; of equal ones that of the lower lane.
  std::array<std::size_t, most_streams> next{};
  std::array<std::int64_t, most_streams> at_ns{};
  const auto head = [&](std::size_t s) {
    const auto& operations = streams_[s].operations;
    return next[s] < operations.size() ? points[2 * std::size_t{operations[next[s]].task}]
                                       : never_ns;
  };
  for (std::size_t s = 0; s < streams_.size(); ++s) at_ns[s] = head(s);
  std::int64_t covered_to_ns = -1;
  while (!streams_.empty()) {
    std::size_t first = 0;
    for (std::size_t s = 1; s < streams_.size(); ++s) first = at_ns[s] < at_ns[first] ? s : first;
    if (at_ns[first] == never_ns) break;
    const Operation operation = streams_[first].operations[next[first]++];
    const std::int64_t begin_ns = at_ns[first];
    const std::int64_t end_ns = points[2 * std::size_t{operation.task} + 1];
    at_ns[first] = head(first);
    const std::int64_t taken =
        uncovered_ns(begin_ns, end_ns, segment_ns[operation.task], covered_to_ns);
    if (operation.step < 0) continue;
    DeviceStep& step = times.device[static_cast<std::size_t>(operation.step)];
    step.work_ns += taken;
    step.occupied_ns += taken;
    extend_step(step, make_id<TaskId>(operation.task), begin_ns, end_ns);
    ++step.operations;
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const DeviceStep& step = times.device[i];
    if (i > 0) {
      const DeviceStep& before = times.device[i - 1];
      const bool is_known = step.begin_ns >= 0 && before.begin_ns >= 0;
      times.device_ns.push_back(
          is_known ? std::max<std::int64_t>(0, step.begin_ns - before.begin_ns) : -1);
    }
    times.reach_ns.push_back(std::max(times.host_ns[i], step.end_ns - times.begin_ns[i]));
  }
  times.span_ns = timeline.span_ns;
}

}  // namespace foretrace
