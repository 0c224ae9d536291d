// Pull engine, one variant: branch-free runs of tasks between those with overflow dependencies.
#include "sim/engine/pull/pull.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sim/engine/release/release.h"

namespace foretrace {
namespace {

using engine::RunColumns;
using engine::slot_start;

/// Tasks first..last-1 have no overflow dependencies. Returns the latest end.
std::int64_t run_plain(const RunColumns& columns, std::size_t first, std::size_t last,
                       std::int64_t span_ns) {
  const std::int64_t* duration_ns = columns.duration_ns;
  std::int64_t* points = columns.points;
  for (std::size_t task = first; task < last; ++task) {
    const std::int64_t start = slot_start(columns, task);
    const std::int64_t end = engine::add_ns(start, duration_ns[task]);
    points[2 * task] = start;
    points[2 * task + 1] = end;
    span_ns = std::max(span_ns, end);
  }
  return span_ns;
}

std::int64_t run(const Topology& topology, const Weights& weights, const RunColumns& columns) {
  const auto& overflow = topology.overflow;
  std::int64_t span_ns = 0;
  std::size_t task = 0;
  std::size_t next = 0;
  while (next < overflow.size()) {
    const std::size_t special = index(overflow[next].task);
    span_ns = run_plain(columns, task, special, span_ns);
    std::int64_t start = slot_start(columns, special);
    for (; next < overflow.size() && index(overflow[next].task) == special; ++next) {
      start =
          std::max(start, engine::overflow_release(overflow[next], (*weights.overflow_lag_ns)[next],
                                                   columns.points, columns.duration_ns));
    }
    const std::int64_t end = engine::add_ns(start, columns.duration_ns[special]);
    columns.points[2 * special] = start;
    columns.points[2 * special + 1] = end;
    span_ns = std::max(span_ns, end);
    task = special + 1;
  }
  return run_plain(columns, task, topology.task_count(), span_ns);
}

}  // namespace

void simulate(const Topology& topology, const Weights& weights, Timeline& timeline) {
  const RunColumns columns = RunColumns::prepare(topology, weights, timeline);
  timeline.span_ns = run(topology, weights, columns);
  RunColumns::finish(timeline);
}

Timeline simulate(const TaskGraph& graph) {
  Timeline timeline;
  timeline.points.reserve(2 * graph.size() + 2);
  simulate(graph.topology(), graph.weights(), timeline);
  return timeline;
}

}  // namespace foretrace
