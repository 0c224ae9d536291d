// Reactions: the same graph with other weights, to see whether it answers rather than repeats.
#pragma once

#include "sim/graph/task_graph.h"

namespace foretrace {

/// Every kernel, collective, copy and set takes `factor` times as long; gaps and lags stay.
/// 0 gives "device x0".
[[nodiscard]] Weights scale_device(const TaskGraph& graph, double factor);
/// As scale_device(), of those with this name alone.
[[nodiscard]] Weights scale_device(const TaskGraph& graph, double factor, NameId name);

/// Host durations and segments times `factor`; lags that follow the host (hand-over) likewise.
[[nodiscard]] Weights scale_host(const TaskGraph& graph, double factor);

/// Host work and host segments take no time, hand-overs are immediate; launch latencies stay.
[[nodiscard]] inline Weights host_x0(const TaskGraph& graph) { return scale_host(graph, 0.0); }

}  // namespace foretrace
