#include "apps/session/recording/measured_steps.h"

#include <algorithm>
#include <utility>

namespace foretrace {
namespace {

/// Recorded times as a timeline; what was not recorded begins at -1.
Timeline recorded_timeline(const trace::BuiltGraph& built) {
  const TaskGraph& graph = built.graph;
  Timeline timeline;
  timeline.points.assign(2 * graph.size(), -1);
  for (std::size_t i = 0; i < std::min(graph.size(), built.recorded_start_ns.size()); ++i) {
    if (built.recorded_start_ns[i] >= 0) {
      timeline.points[2 * i] = built.recorded_start_ns[i];
      timeline.points[2 * i + 1] =
          built.recorded_start_ns[i] + graph.duration_ns(make_id<TaskId>(i));
    }
  }
  return timeline;
}

}  // namespace

StepTimes measured_steps(const trace::BuiltGraph& built) {
  StepTimes times;
  for (const trace::MeasuredStep& step : built.steps) {
    times.numbers.push_back(step.number);
    times.begin_ns.push_back(step.start_ns);
    times.host_ns.push_back(step.end_ns - step.start_ns);
  }
  times.device = device_steps(built.graph, recorded_timeline(built));
  times.device.resize(built.steps.size());
  times.span_ns = built.honesty.span_ns;
  return steps_of_job(built.graph.context().steps, std::move(times));
}

}  // namespace foretrace
