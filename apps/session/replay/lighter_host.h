// A recording without the work of the profiler that recorded it.
#pragma once

#include <cstdint>

#include "apps/session/recording/recording.h"
#include "apps/session/replay/run.h"
#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// What an event costs at most in nine of ten cases: the 90 % quantile of (profiled - off) / host
/// events over four programs that the host limits, four settings of PyTorch's profiler and two
/// machines (overhead.csv of examples/traces/h200 and h100_host; each a median of three rounds).
inline constexpr std::int64_t likely_event_ns = 3'900;

/// A recording's graph with likely_event_ns of the host taken out for each event.
struct LighterHost {
  double events_per_step = 0;  ///< 0: nothing tells the profiler's work
  TaskGraph graph;
  std::int64_t step_ns = 0;  ///< simulated
};
[[nodiscard]] Result<LighterHost> lighter_host(const Recording& recording,
                                               const RunOptions& options);

}  // namespace foretrace
