// The pull engine: one pass over tasks in topological order; exact where launch order is fixed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace {

/// Start and end of every task. No allocation beyond the timeline.
[[nodiscard]] Timeline simulate(const TaskGraph& graph);
/// As simulate(graph), with other weights of the same topology, into an existing timeline.
void simulate(const Topology& topology, const Weights& weights, Timeline& timeline);

/// Many variants of one topology at once: eight per pass in SIMD lanes. Same times as simulate().
[[nodiscard]] std::vector<Timeline> simulate_batch(const Topology& topology,
                                                   std::span<const Weights> variants);
/// As simulate_batch, but only the span of each variant (ns); a sweep needs no more.
[[nodiscard]] std::vector<std::int64_t> simulate_batch_spans(const Topology& topology,
                                                             std::span<const Weights> variants);

}  // namespace foretrace
