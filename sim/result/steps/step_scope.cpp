// Where the step that answers lies in a simulated run.
#include <algorithm>

#include "sim/graph/links.h"
#include "sim/result/steps/steps.h"

namespace foretrace {
namespace {

StepScope device_scope(const TaskGraph& graph, const StepTimes& times, StepLimit limit,
                       std::size_t position) {
  const DeviceStep& step = times.device[position];
  StepScope scope;
  scope.from = start_of(step.first);
  scope.begin_ns = step.begin_ns;
  if (limit == StepLimit::device_work) {
    scope.to = end_of(step.last);
    scope.last = step.last;
    scope.end_ns = step.end_ns;
    scope.work_of = static_cast<std::int32_t>(times.first_step + position);
    return scope;
  }
  const TaskId next = times.device[position + 1].first;
  scope.to = start_of(next);
  // The stream of a device that limits is never empty: what ran before is what held it.
  const TaskId before = previous_on_lane(graph, next);
  scope.last = before == none<TaskId> ? next : before;
  scope.end_ns = times.device[position + 1].begin_ns;
  return scope;
}

StepScope host_scope(const StepTimes& times, const Step& step, StepLimit limit,
                     std::size_t position) {
  StepScope scope;
  scope.from = start_of(step.begin);
  scope.begin_ns = times.begin_ns[position];
  if (limit == StepLimit::device_end && times.device[position].last != none<TaskId>) {
    scope.to = end_of(times.device[position].last);
    scope.last = times.device[position].last;
    scope.end_ns = times.device[position].end_ns;
    return scope;
  }
  scope.to = start_of(step.end);
  scope.last = step.end;
  scope.end_ns = scope.begin_ns + times.host_ns[position];
  return scope;
}

}  // namespace

StepScope scope_of(const TaskGraph& graph, const StepTimes& times, const StepAnswer& answer,
                   std::size_t position) {
  if (!times.ranks.empty() && !answer.is_span) {
    const std::size_t number = times.median_rank[position][static_cast<std::size_t>(answer.limit)];
    const StepTimes& rank = times.ranks[number];
    return scope_of(graph, rank, answer, times.rank_steps[position][number]);
  }
  if (answer.is_span) {
    StepScope scope;
    scope.end_ns = times.span_ns;
    const std::vector<Lane>& lanes = graph.context().lanes;
    const auto host = std::find_if(lanes.begin(), lanes.end(), [](const Lane& lane) {
      return lane.kind == LaneKind::host_thread;
    });
    scope.rank = host == lanes.end() ? 0 : host->rank;
    return scope;
  }
  const Step& step = graph.context().steps[times.first_step + position];
  const bool on_device =
      answer.limit == StepLimit::device_period || answer.limit == StepLimit::device_work;
  StepScope scope = on_device ? device_scope(graph, times, answer.limit, position)
                              : host_scope(times, step, answer.limit, position);
  scope.rank = step.rank;
  return scope;
}

}  // namespace foretrace
