#include "sim/engine/release/release.h"

#include "sim/core/result.h"

namespace foretrace::engine {

RunColumns RunColumns::prepare(const Topology& topology, const Weights& weights,
                               Timeline& timeline) {
  const std::size_t tasks = topology.task_count();
  FORETRACE_CHECK(weights.duration_ns != nullptr && weights.duration_ns->size() == tasks);
  FORETRACE_CHECK(weights.segment_ns != nullptr && weights.segment_ns->size() == tasks);
  FORETRACE_CHECK(weights.lag_ns != nullptr && weights.lag_ns->size() == tasks);
  FORETRACE_CHECK(topology.overflow.empty() ||
                  (weights.overflow_lag_ns != nullptr &&
                   weights.overflow_lag_ns->size() == topology.overflow.size()));
  timeline.span_ns = 0;
  timeline.points.resize(2 * tasks + 2);
  timeline.points[2 * tasks] = 0;
  timeline.points[2 * tasks + 1] = never_ns;
  RunColumns columns;
  columns.sources = topology.sources.data();
  columns.duration_ns = weights.duration_ns->data();
  columns.segment_ns = weights.segment_ns->data();
  columns.lag_ns = weights.lag_ns->data();
  columns.points = timeline.points.data();
  columns.origin = static_cast<std::uint32_t>(2 * tasks);
  return columns;
}

std::int64_t overflow_start(const Topology& topology, const Weights& weights,
                            const RunColumns& columns, std::size_t task) {
  std::int64_t start = never_ns;
  for (const OverflowDependency& row : topology.overflow_of(make_id<TaskId>(task))) {
    const auto position = static_cast<std::size_t>(&row - topology.overflow.data());
    start = std::max(start, overflow_release(row, (*weights.overflow_lag_ns)[position],
                                             columns.points, columns.duration_ns));
  }
  return start;
}

}  // namespace foretrace::engine
