// Critical path: what every nanosecond of the span was spent on, and how much each part could give.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace {

enum class PathPart : std::uint8_t {
  duration,     ///< the task ran (or, for a capacity dependency, the share of it that held others)
  segment,      ///< host time, or the gap of a stream, before the task
  lag,          ///< latency of the dependency that the task waited for
  unexplained,  ///< no dependency says why: a policy or contention held the task back
};
[[nodiscard]] std::string_view to_string(PathPart part);

/// A piece of the path. Pieces follow each other without gaps; their sum is the path's total.
struct PathPiece {
  TaskId task{};
  PathPart part = PathPart::duration;
  DependencyKind cause = DependencyKind::none;  ///< of a segment or lag: why the task waited
  std::int64_t begin_ns = 0;
  std::int64_t duration_ns = 0;  ///< below 0 only for a dependency on a start with a negative lag
};

/// Totals of a path (ns). host + device + network + gap + latency + unexplained = total.
struct PathShares {
  std::int64_t host_ns = 0;     ///< host tasks and the host time before tasks
  std::int64_t device_ns = 0;   ///< kernels, copies, sets, collectives
  std::int64_t network_ns = 0;  ///< transfers
  std::int64_t gap_ns = 0;      ///< gaps between operations of one stream
  std::int64_t latency_ns = 0;  ///< lags: launch, completion, hand-over
  std::int64_t unexplained_ns = 0;
  std::array<std::int64_t, provenance_count> provenance_ns{};  ///< of all pieces
  std::array<std::int64_t, task_kind_count> kind_ns{};         ///< durations, by task
  std::array<std::int64_t, dependency_kind_count> cause_ns{};  ///< lags, by dependency
  std::vector<std::int64_t> lane_ns;                           ///< durations and segments, by lane
};

struct CriticalPath {
  std::vector<PathPiece> pieces;  ///< in order of time
  std::int64_t total_ns = 0;      ///< end of the last task minus begin of the window, exactly
  PathShares shares;
};

struct PathWindow {
  TaskId last = none<TaskId>;  ///< the path ends with the end of this task; none: the latest end
  std::int64_t begin_ns = 0;   ///< and begins here
};

/// The chain of binding dependencies back from the last end. Of several that bind, the first in the
/// order lane, cause, extra, overflow counts; of several last tasks the one with the smallest id.
[[nodiscard]] CriticalPath critical_path(const TaskGraph& graph, const Timeline& timeline,
                                         const PathWindow& window = {});

enum class PathGrouping : std::uint8_t { name, kind, layer };

struct GainOptions {
  PathGrouping grouping = PathGrouping::name;  ///< of durations
  std::size_t count = 10;                      ///< groups with the most time on the path
  /// What the gain is measured on: T[to] - T[from]. no_point: the whole span.
  Point from = no_point;
  Point to = no_point;
  /// If given, what the gain is measured on instead: one time per variant of the weights.
  std::function<std::vector<std::int64_t>(std::span<const Weights>)> measure{};
};

/// Everything of one kind that could be made faster: on the path, and if it took no time at all.
struct PathGroup {
  std::string label;
  PathPart part = PathPart::duration;
  std::int64_t on_path_ns = 0;
  std::size_t pieces = 0;
  std::size_t tasks = 0;  ///< of the whole graph, on the path or not
  /// Simulated: an upper bound of what speeding it up can give. From 0 up, and not more than all
  /// host (device) time together gives where the group is part of that.
  std::int64_t gain_ns = 0;
};

/// The largest groups of the path, most time first, each simulated without its time. Segments are
/// grouped by host thread, gaps by stream, lags by kind of dependency.
[[nodiscard]] std::vector<PathGroup> path_gains(const TaskGraph& graph, const CriticalPath& path,
                                                const GainOptions& options = {});

}  // namespace foretrace
