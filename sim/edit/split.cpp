// Primitive: split.
#include "sim/edit/split.h"

#include <cmath>

#include <fmt/format.h>

#include "sim/edit/insert.h"
#include "sim/edit/rewire.h"

namespace foretrace::transform {

namespace {

void hand_over_end(Change& change, const TaskGraph& graph, TaskId task, TaskId last) {
  for (Dependency d : outgoing(graph, task)) {
    change.removed_dependencies.push_back({d.task, d.kind, task});
    if (is_end(d.source)) {
      d.source = end_of(last);
    } else {
      // A share of the old duration: the first part is shorter.
      d.lag_ns += std::llround(static_cast<double>(d.fraction) *
                               static_cast<double>(graph.duration_ns(task)));
      d.fraction = 0.0F;
    }
    change.new_dependencies.push_back(d);
  }
}

}  // namespace

Result<std::vector<TaskId>> split(Change& change, const TaskGraph& graph,
                                  const Relations& relations, TaskId task,
                                  const SplitOptions& options) {
  const std::int64_t duration_ns = graph.duration_ns(task);
  const auto parts = static_cast<std::int64_t>(options.parts);
  if (parts < 1 || parts > std::max<std::int64_t>(duration_ns, 1)) {
    return Error{ErrorCode::bad_usage,
                 fmt::format("split: got {} parts for a task of {} ns, expected 1 to {}",
                             options.parts, duration_ns, std::max<std::int64_t>(duration_ns, 1))};
  }
  std::vector<TaskId> result{task};
  if (parts == 1) return result;
  const auto share = [&](std::int64_t part) {
    return duration_ns / parts + (part < duration_ns % parts ? 1 : 0);
  };
  change.durations.push_back({task, share(0), graph.provenance(task)});
  const TaskId launch = relations.launch_of(task);
  Dependency cause = relations.launch_dependency(task);
  const LatencyFrom from = is_end(cause.source) ? LatencyFrom::end : LatencyFrom::start;
  for (std::int64_t part = 1; part < parts; ++part) {
    TaskSpec spec = like(graph, task);
    spec.duration_ns = share(part);
    spec.segment_ns = options.gap_ns;
    if (launch != none<TaskId> && options.launch) {
      TaskSpec call = like(graph, launch);
      call.duration_ns = options.launch->duration_ns;
      call.segment_ns = options.launch->segment_ns;
      const PairSpec pair{call, spec, cause.lag_ns, result.back(), from};
      result.push_back(insert_pair(change, graph, pair).device);
      continue;
    }
    result.push_back(insert(change, graph, spec, result.back()));
    if (launch == none<TaskId>) continue;
    cause.task = result.back();
    change.new_dependencies.push_back(cause);
  }
  hand_over_end(change, graph, task, result.back());
  return result;
}

}  // namespace foretrace::transform
