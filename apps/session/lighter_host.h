// A recording without the work of the profiler that recorded it.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>

#include "apps/session/predict.h"
#include "apps/session/recording/host_events.h"
#include "apps/session/recording/load.h"
#include "sim/core/result.h"
#include "sim/graph/task_graph.h"

namespace foretrace::driver {

/// A host piece keeps at least this share of what it took. Whole programs that the host limits took
/// 0.35 to 0.5 of their profiled time (examples/11_h100, "What it costs"): less is no profiler.
inline constexpr double kept_of_host = 0.25;

/// What an event costs at most in nine of ten cases: the 90 % quantile of (profiled - off) / host
/// events over four programs that the host limits, four settings of PyTorch's profiler and two
/// machines (overhead.csv of examples/traces/h200 and h100_host; each a median of three rounds).
inline constexpr std::int64_t likely_event_ns = 3'900;

/// The graph of the recording where every piece of host time loses `cost_ns` for each event in it,
/// down to its kept share.
[[nodiscard]] TaskGraph without_events(const TaskGraph& recorded, const HostEvents& events,
                                       std::int64_t cost_ns);

/// A graph that what-ifs made of `recorded`: every piece that is left of its host loses the share
/// that it loses there, whatever they made of its time. `origin` is WhatIfStack::origin.
[[nodiscard]] TaskGraph without_events(const TaskGraph& changed, std::span<const TaskId> origin,
                                       const TaskGraph& recorded, const TaskGraph& lighter);

/// A recording's graph with likely_event_ns of the host taken out for each event.
struct LighterHost {
  double events_per_step = 0;  ///< 0: nothing tells the profiler's work
  TaskGraph graph;
  std::int64_t step_ns = 0;  ///< simulated
};

/// That of one recording, made when first asked for, by whichever thread.
class LighterHostOnce {
 public:
  [[nodiscard]] const Result<LighterHost>& of(const Recording& recording,
                                              const RunOptions& options) const;

 private:
  mutable std::once_flag once_;
  mutable Result<LighterHost> made_ = LighterHost{};
};

}  // namespace foretrace::driver
