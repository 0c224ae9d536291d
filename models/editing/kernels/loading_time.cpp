#include "models/editing/kernels/loading_time.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/core/text.h"

namespace foretrace::editing {
namespace {

// The step that a task is in or that comes next on its rank: batches are made before the mark of
// the step that takes them.
std::int32_t step_after(const TaskGraph& graph, TaskId task) {
  if (graph.step(task) >= 0) return graph.step(task);
  const std::vector<Step>& steps = graph.context().steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].rank == graph.lane(task).rank && steps[i].begin >= task) {
      return static_cast<std::int32_t>(i);
    }
  }
  return -1;
}

}  // namespace

std::map<std::int32_t, std::int64_t> loading_times(const TaskGraph& graph) {
  std::map<std::int32_t, std::int64_t> ns;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.phase(task) != Phase::data_loading) continue;
    const bool host = is_host(graph.kind(task));
    ns[graph.step(task)] += graph.duration_ns(task) + (host ? graph.segment_ns(task) : 0);
  }
  // A loader in the process may be all that is done before a task of another phase.
  for (const SegmentPart& part : graph.context().segment_parts) {
    if (graph.phase(part.task) != Phase::data_loading &&
        contains_any(graph.names()[part.label], {"SingleProcessDataLoaderIter", "data_loading"})) {
      ns[step_after(graph, part.task)] += std::min(part.duration_ns, graph.segment_ns(part.task));
    }
  }
  return ns;
}

}  // namespace foretrace::editing
