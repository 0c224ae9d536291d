// How operations of a device add up to the device's side of a step.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/result/device_steps.h"

namespace foretrace {

/// Gaps between back-to-back operations are shorter (1 to 5 us measured on V100 to H100, MI300X);
/// what a recording booked on a stream beyond that is a silence without a known reason.
inline constexpr std::int64_t longest_stream_gap_ns = 20'000;

/// What an operation and the gap that its stream needs before it take beyond `to_ns`, up to which
/// what began before covers the device (below 0: nothing did). Moves `to_ns` to the operation's
/// end.
[[nodiscard]] inline std::int64_t uncovered_ns(std::int64_t begin_ns, std::int64_t end_ns,
                                               std::int64_t gap_ns, std::int64_t& to_ns) {
  const std::int64_t own = std::max<std::int64_t>(0, end_ns - std::max(begin_ns, to_ns));
  const std::int64_t silence = std::max<std::int64_t>(0, begin_ns - to_ns);
  const std::int64_t gap =
      to_ns < 0 ? 0 : std::min(silence, std::clamp<std::int64_t>(gap_ns, 0, longest_stream_gap_ns));
  to_ns = std::max(to_ns, end_ns);
  return own + gap;
}

/// The step reaches from its first operation to the end of the last; they come in order of starts.
inline void extend_step(DeviceStep& step, TaskId task, std::int64_t begin_ns, std::int64_t end_ns) {
  if (step.begin_ns < 0) {
    step.begin_ns = begin_ns;
    step.first = task;
  }
  if (end_ns > step.end_ns) {
    step.end_ns = end_ns;
    step.last = task;
  }
}

}  // namespace foretrace
