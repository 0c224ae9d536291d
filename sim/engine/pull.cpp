// Pull engine, one variant: branch-free runs of tasks between those with overflow dependencies.
#include "sim/engine/pull.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sim/core/result.h"
#include "sim/engine/release.h"

namespace foretrace {
namespace {

/// Raw columns of one run; all pointers cover every task of the topology.
struct Columns {
  const std::array<Point, 3>* sources = nullptr;
  const std::int64_t* duration_ns = nullptr;
  const std::int64_t* segment_ns = nullptr;
  const std::array<std::int32_t, 2>* lag_ns = nullptr;
  std::int64_t* points = nullptr;  ///< 2 per task, then the two sentinels
  std::uint32_t origin = 0;        ///< sentinel at time 0: lane of a task without a lane source
};

/// Empty slots hold no_point, the largest id: the smaller of it and the sentinel is the sentinel.
[[nodiscard]] inline std::int64_t time_at(const std::int64_t* points, Point point,
                                          std::uint32_t sentinel) {
  return points[std::min(static_cast<std::uint32_t>(point), sentinel)];
}

/// Start of a task as far as its three slots say, never below 0.
[[nodiscard]] inline std::int64_t slot_start(const Columns& columns, std::size_t task) {
  const std::array<Point, 3>& source = columns.sources[task];
  const std::array<std::int32_t, 2>& lag = columns.lag_ns[task];
  const std::int64_t* points = columns.points;
  const std::int64_t lane =
      detail::add_ns(time_at(points, source[lane_slot], columns.origin), columns.segment_ns[task]);
  const std::int64_t cause =
      detail::add_ns(time_at(points, source[cause_slot], columns.origin + 1), lag[0]);
  const std::int64_t extra =
      detail::add_ns(time_at(points, source[extra_slot], columns.origin + 1), lag[1]);
  return std::max(std::max(lane, cause), std::max(extra, std::int64_t{0}));
}

/// Tasks first..last-1 have no overflow dependencies. Returns the latest end.
std::int64_t run_plain(const Columns& columns, std::size_t first, std::size_t last,
                       std::int64_t span_ns) {
  const std::int64_t* duration_ns = columns.duration_ns;
  std::int64_t* points = columns.points;
  for (std::size_t task = first; task < last; ++task) {
    const std::int64_t start = slot_start(columns, task);
    const std::int64_t end = detail::add_ns(start, duration_ns[task]);
    points[2 * task] = start;
    points[2 * task + 1] = end;
    span_ns = std::max(span_ns, end);
  }
  return span_ns;
}

void check_sizes(const Topology& topology, const Weights& weights) {
  const std::size_t tasks = topology.task_count();
  FORETRACE_CHECK(weights.duration_ns != nullptr && weights.duration_ns->size() == tasks);
  FORETRACE_CHECK(weights.segment_ns != nullptr && weights.segment_ns->size() == tasks);
  FORETRACE_CHECK(weights.lag_ns != nullptr && weights.lag_ns->size() == tasks);
  FORETRACE_CHECK(topology.overflow.empty() ||
                  (weights.overflow_lag_ns != nullptr &&
                   weights.overflow_lag_ns->size() == topology.overflow.size()));
}

std::int64_t run(const Topology& topology, const Weights& weights, const Columns& columns) {
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
          std::max(start, detail::overflow_release(overflow[next], (*weights.overflow_lag_ns)[next],
                                                   columns.points, columns.duration_ns));
    }
    const std::int64_t end = detail::add_ns(start, columns.duration_ns[special]);
    columns.points[2 * special] = start;
    columns.points[2 * special + 1] = end;
    span_ns = std::max(span_ns, end);
    task = special + 1;
  }
  return run_plain(columns, task, topology.task_count(), span_ns);
}

}  // namespace

void simulate(const Topology& topology, const Weights& weights, Timeline& timeline) {
  const std::size_t tasks = topology.task_count();
  timeline.span_ns = 0;
  if (tasks == 0) {
    timeline.points.clear();
    return;
  }
  check_sizes(topology, weights);
  timeline.points.resize(2 * tasks + 2);
  timeline.points[2 * tasks] = 0;
  timeline.points[2 * tasks + 1] = detail::never_ns;
  const Columns columns{.sources = topology.sources.data(),
                        .duration_ns = weights.duration_ns->data(),
                        .segment_ns = weights.segment_ns->data(),
                        .lag_ns = weights.lag_ns->data(),
                        .points = timeline.points.data(),
                        .origin = static_cast<std::uint32_t>(2 * tasks)};
  timeline.span_ns = run(topology, weights, columns);
  timeline.points.resize(2 * tasks);
}

Timeline simulate(const TaskGraph& graph) {
  Timeline timeline;
  timeline.points.reserve(2 * graph.size() + 2);
  simulate(graph.topology(), graph.weights(), timeline);
  return timeline;
}

}  // namespace foretrace
