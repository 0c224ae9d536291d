// What a simulated run spends its time on: shares of a step, provenance, critical path.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "apps/session/replay/run.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/engine/path/critical_path.h"
#include "sim/graph/task_graph.h"
#include "sim/result/export/chrome_trace.h"
#include "sim/result/summary.h"

namespace foretrace {

/// Of the step that answers; where it is the mean of two steps, so are these.
struct Analysis {
  Breakdown breakdown;  ///< sums to the step
  /// Share of the critical path's time by provenance; sums to 1.
  std::array<double, provenance_count> provenance{};
  /// How much shorter the step were if collectives took no time, simulated; none without any, or
  /// where the engine cannot do without them.
  std::optional<std::int64_t> free_transfers_ns;
  /// The same if nobody waited for late ranks; none where the trace does not tell waiting apart.
  std::optional<std::int64_t> free_waiting_ns;
};
[[nodiscard]] Analysis analyse(const TaskGraph& graph, const Run& run,
                               const RunOptions& options = {});

/// Allocated bytes of every device over time, for a timeline.
[[nodiscard]] std::vector<ChromeCounter> memory_counters(std::span<const MemoryCurve> memory);

/// The critical path of a step, and what its parts could give.
struct PathReport {
  StepScope scope;
  std::int64_t step_number = -1;  ///< -1: the whole span
  std::int32_t rank = -1;         ///< of a job: whose step it is; -1: one rank
  std::int32_t held_by = -1;      ///< of a job: the rank that most of the path is on
  CriticalPath path;
  std::vector<PathGroup> groups;   ///< by name of kernel or call
  std::vector<PathGroup> regions;  ///< host time by named region of the trace
  std::vector<PathGroup> layers;   ///< by layer; empty if the trace has none
};
/// Gains are those of the answer: the same lengths of steps, by the same engine.
[[nodiscard]] PathReport path_report(const TaskGraph& graph, const Run& run, std::size_t groups,
                                     const RunOptions& options = {});
/// The critical path of the step that answers.
[[nodiscard]] CriticalPath step_path(const TaskGraph& graph, const Run& run);

}  // namespace foretrace
