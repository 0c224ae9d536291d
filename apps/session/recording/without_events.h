// A recorded graph without what writing down events took of its host.
#pragma once

#include <cstdint>
#include <span>

#include "apps/session/recording/host_events.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// A host piece keeps at least this share of what it took. Whole programs that the host limits took
/// 0.35 to 0.5 of their profiled time (examples/studies/h100, "What it costs"): less is no profiler.
inline constexpr double kept_of_host = 0.25;

/// The graph of the recording where every piece of host time loses `cost_ns` for each event in it,
/// down to its kept share.
[[nodiscard]] TaskGraph without_events(const TaskGraph& recorded, const HostEvents& events,
                                       std::int64_t cost_ns);

/// A graph that what-ifs made of `recorded`: every piece that is left of its host loses the share
/// that it loses there, whatever they made of its time. `origin` is WhatIfStack::origin.
[[nodiscard]] TaskGraph without_events(const TaskGraph& changed, std::span<const TaskId> origin,
                                       const TaskGraph& recorded, const TaskGraph& lighter);

}  // namespace foretrace
