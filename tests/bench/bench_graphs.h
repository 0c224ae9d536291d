// Graphs to measure on: random ones by lanes, a training program, and a real trace if there is one.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/graph/task_graph.h"

namespace foretrace::bench {

/// 1.4 dependencies besides the lane's, half of the sources starts, lags, 2 % with fan-in above
/// three. `conditions`: fractions and late_after, which a longest path cannot state.
struct SyntheticOptions {
  std::size_t tasks = 100'000;
  std::size_t lanes = 64;
  double conditions = 0;
};
[[nodiscard]] TaskGraph synthetic_graph(const SyntheticOptions& options);

/// A host thread that launches on three streams, with events, synchronizations and a launch queue
/// of 1021 entries, as the graph of a training run has them.
[[nodiscard]] TaskGraph program_graph(std::size_t tasks);

/// The graph of the largest real trace, if the traces are there.
[[nodiscard]] const std::optional<TaskGraph>& real_graph();

/// Variants with the durations of all device tasks scaled by different factors.
[[nodiscard]] std::vector<Weights> duration_variants(const TaskGraph& graph, std::size_t count);

}  // namespace foretrace::bench
