#include "models/editing/kernels/launch_times.h"

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

}  // namespace foretrace::editing
