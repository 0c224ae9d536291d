// Reasons to doubt every answer that a graph gives, whatever is asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"
#include "trace/graph/built_graph.h"
#include "trace/table/import_report.h"

namespace foretrace {

/// Spans of the same graph with other weights; a graph that only repeats the trace does not move.
struct Reactions {
  std::int64_t device_x0_ns = 0;  ///< kernels, copies, sets and collectives at 0, lags kept
  std::int64_t device_half_ns = 0;
  std::int64_t device_double_ns = 0;
  std::int64_t host_x0_ns = 0;
};
[[nodiscard]] Reactions reactions_of(const TaskGraph& graph);

/// How many ranks are in a graph. Counters of a job are sums over them, its span is that of all.
[[nodiscard]] std::int64_t ranks_of(const TaskGraph& graph);

/// One reason: in few words for a first line, and in full.
struct Doubt {
  std::string brief;
  std::string text;
  bool is_bounded = false;  ///< the declared range holds what it says
};

/// From what the graph leaves unexplained, and from how it reacts beside references that do not
/// come from it. `timeline` is the simulated recording. Empty where no times were recorded.
[[nodiscard]] std::vector<Doubt> doubts_of(const trace::BuiltGraph& built, const Timeline& timeline,
                                           const Reactions& reactions);

/// A replay that is farther from the recording than it may be; nullopt if it is not.
[[nodiscard]] std::optional<Doubt> doubt_of_replay(std::int64_t simulated_ns,
                                                   std::int64_t measured_ns);

/// From what could not be read: a file that ends early has lost what came last.
[[nodiscard]] std::vector<Doubt> doubts_of(const trace::ImportReport& report);

}  // namespace foretrace
