// Primitive: split a task into parts that follow each other on its lane.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/core/result.h"
#include "sim/edit/relations.h"
#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"

namespace foretrace::transform {

/// The call that enqueues a part of its own.
struct SplitLaunch {
  std::int64_t duration_ns = 0;
  std::int64_t segment_ns = 0;
};
struct SplitOptions {
  std::size_t parts = 2;
  std::int64_t gap_ns = 0;  ///< before each part but the first
  /// Each further part gets a call of its own; without it, one call enqueues all of them.
  std::optional<SplitLaunch> launch = std::nullopt;
};

///   before   s: k(30)            after split(k, {.parts = 3})   s: k(10) k'(10) k''(10)
///
/// What waited for the end of the task waits for the last part; what waited for its start still
/// does. Durations differ by at most 1 ns and add up to the old one. Returns the parts; the first
/// is the task itself. Errors: no parts, or a number of parts beyond the duration in ns.
[[nodiscard]] Result<std::vector<TaskId>> split(Change& change, const TaskGraph& graph,
                                                const Relations& relations, TaskId task,
                                                const SplitOptions& options = {});

}  // namespace foretrace::transform
