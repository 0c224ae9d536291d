// Release times: what one dependency allows, in the integer arithmetic that all engines share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sim/graph/task_graph.h"

namespace foretrace::detail {

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
  constexpr double limit = 4e18;  // llround is undefined beyond the range of int64
  if (!(share > -limit && share < limit)) {
    return 0;
  }
  return std::llround(share);
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

}  // namespace foretrace::detail
