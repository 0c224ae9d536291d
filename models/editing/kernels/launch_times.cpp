#include "models/editing/kernels/launch_times.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/core/statistics.h"
#include "sim/graph/links.h"

namespace foretrace::editing {

LaunchTimes usual_launch(const TaskGraph& graph) {
  std::vector<std::int64_t> calls;
  std::vector<std::int64_t> latencies;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.kind(task) == TaskKind::kernel) {
      const Link launch = launch_link(graph, task);
      if (launch.source != no_point) latencies.push_back(launch.lag_ns);
    } else if (is_plain_launch(graph, task)) {
      const TaskId work = launched_by(graph, task).only();
      if (work != none<TaskId> && graph.kind(work) == TaskKind::kernel) {
        calls.push_back(graph.duration_ns(task));
      }
    }
  }
  return {lower_median(std::move(calls)), lower_median(std::move(latencies))};
}

namespace {

// A lone first launch beyond this many usual ones did something else: dispatch varies by tens. Code
// is loaded in milliseconds (0.3 to 30 ms in recordings of first passes), dispatched in
// microseconds.
constexpr std::int64_t far_longer = 100;
constexpr std::int64_t shortest_first_use_ns = 1'000'000;

std::int64_t without_first_use(std::int64_t recorded_ns, std::int64_t usual_ns) {
  const std::int64_t longest = std::max(far_longer * usual_ns, shortest_first_use_ns);
  return recorded_ns > longest ? usual_ns : recorded_ns;
}

}  // namespace

RepeatedLaunches::RepeatedLaunches(const TaskGraph& graph) : graph_(graph) {
  std::vector<std::int64_t> calls;
  std::vector<std::int64_t> hosts;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto kernel = make_id<TaskId>(i);
    if (graph.kind(kernel) != TaskKind::kernel) continue;
    const TaskId call = launch_of(graph, kernel);
    if (call == none<TaskId> || !is_plain_launch(graph, call)) continue;
    Seen& seen = seen_[key_of(kernel)];
    if (seen.first == none<TaskId>) {
      seen.first = call;
    } else if (seen.next == none<TaskId>) {
      seen.next = call;
    }
    calls.push_back(recorded(call).call_ns);
    hosts.push_back(recorded(call).host_ns);
  }
  usual_ = {lower_median(std::move(calls)), lower_median(std::move(hosts))};
}

RepeatedLaunches::Key RepeatedLaunches::key_of(TaskId kernel) const {
  const Work& work = graph_.work(kernel);
  return {graph_.lane(kernel).rank, work.name, work.shapes};
}

RepeatedLaunches::Times RepeatedLaunches::recorded(TaskId call) const {
  return {graph_.duration_ns(call), std::max<std::int64_t>(graph_.segment_ns(call), 0)};
}

RepeatedLaunches::Times RepeatedLaunches::of(TaskId kernel, TaskId call) const {
  const Times own = recorded(call);
  const auto found = seen_.find(key_of(kernel));
  if (found == seen_.end() || found->second.first != call) return own;
  if (found->second.next == none<TaskId>) {
    return {without_first_use(own.call_ns, usual_.call_ns),
            without_first_use(own.host_ns, usual_.host_ns)};
  }
  const Times next = recorded(found->second.next);
  return {std::min(own.call_ns, next.call_ns), std::min(own.host_ns, next.host_ns)};
}

}  // namespace foretrace::editing
