// Release times: what one dependency allows, in the integer arithmetic that all engines share.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace::engine {

/// Stands for "no dependency": below every release time, and far from wrapping around.
inline constexpr std::int64_t never_ns = -(std::int64_t{1} << 62);

/// Adds times. Absurd input (durations near 2^63) wraps instead of being undefined behaviour.
[[nodiscard]] constexpr std::int64_t add_ns(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// A share of a duration in whole ns, rounded half away from zero.
[[nodiscard]] inline std::int64_t share_of(float fraction, std::int64_t duration_ns) {
  if (fraction == 0.0F) {
    return 0;
  }
  const double share = static_cast<double>(fraction) * static_cast<double>(duration_ns);
  constexpr double limit = 4e18;  // beyond the range of int64 there is nothing to round to
  if (!(share > -limit && share < limit)) {
    return 0;
  }
  // As std::llround, without its call: the rest is exact, and 0 from 2^52 on.
  const auto whole = static_cast<std::int64_t>(share);
  const double rest = share - static_cast<double>(whole);
  return whole + (rest >= 0.5 ? 1 : 0) - (rest <= -0.5 ? 1 : 0);
}

/// When an overflow dependency lets its task start, or never_ns if it does not count.
[[nodiscard]] inline std::int64_t overflow_release(const OverflowDependency& dependency,
                                                   std::int64_t lag_ns, const std::int64_t* points,
                                                   const std::int64_t* duration_ns) {
  if (dependency.source == no_point) {
    return never_ns;
  }
  const std::int64_t source = points[index(dependency.source)];
  if (dependency.late_after != no_point && source <= points[index(dependency.late_after)]) {
    return never_ns;
  }
  const std::int64_t share =
      share_of(dependency.fraction, duration_ns[index(task_of(dependency.source))]);
  return add_ns(add_ns(source, lag_ns), share);
}

/// Raw columns of one run over one set of weights. `points` holds two sentinels behind the points
/// of the tasks: the origin (time 0) and never.
struct RunColumns {
  const std::array<Point, 3>* sources = nullptr;
  const std::int64_t* duration_ns = nullptr;
  const std::int64_t* segment_ns = nullptr;
  const std::array<std::int32_t, 2>* lag_ns = nullptr;
  std::int64_t* points = nullptr;
  std::uint32_t origin = 0;  ///< index of the first sentinel: 2 * tasks

  /// Checks the sizes and makes room in the timeline; call finish() when the run is over.
  [[nodiscard]] static RunColumns prepare(const Topology& topology, const Weights& weights,
                                          Timeline& timeline);
  static void finish(Timeline& timeline) { timeline.points.resize(timeline.points.size() - 2); }
};

/// Empty slots hold no_point, the largest id: the smaller of it and the sentinel is the sentinel.
[[nodiscard]] inline std::int64_t time_at(const std::int64_t* points, Point point,
                                          std::uint32_t sentinel) {
  return points[std::min(static_cast<std::uint32_t>(point), sentinel)];
}

/// Start of a task as far as its three slots say, never below 0.
[[nodiscard]] inline std::int64_t slot_start(const RunColumns& columns, std::size_t task) {
  const std::array<Point, 3>& source = columns.sources[task];
  const std::array<std::int32_t, 2>& lag = columns.lag_ns[task];
  const std::int64_t* points = columns.points;
  const std::int64_t lane =
      add_ns(time_at(points, source[lane_slot], columns.origin), columns.segment_ns[task]);
  const std::int64_t cause =
      add_ns(time_at(points, source[cause_slot], columns.origin + 1), lag[0]);
  const std::int64_t extra =
      add_ns(time_at(points, source[extra_slot], columns.origin + 1), lag[1]);
  return std::max(std::max(lane, cause), std::max(extra, std::int64_t{0}));
}

/// Latest release by the overflow dependencies of a task, never_ns if none counts.
[[nodiscard]] std::int64_t overflow_start(const Topology& topology, const Weights& weights,
                                          const RunColumns& columns, std::size_t task);

}  // namespace foretrace::engine
