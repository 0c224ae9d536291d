// Batches that a recording's loader made or waited for, and lanes for those who make them instead.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/core/params.h"
#include "sim/edit/editor.h"
#include "sim/edit/text_pattern.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/task_graph.h"

namespace foretrace::editing {

inline constexpr ParamInfo workers_param = {.name = "workers",
                                            .type = ParamType::integer,
                                            .unit = "1",
                                            .default_text = "4",
                                            .doc = "Worker processes (num_workers).",
                                            .minimum = 1,
                                            .maximum = 1024};
inline constexpr ParamInfo prefetch_param = {
    .name = "prefetch",
    .type = ParamType::integer,
    .unit = "1",
    .default_text = "2",
    .doc = "Batches in flight per worker (prefetch_factor).",
    .minimum = 1,
    .maximum = 1024};

/// A task before which the host was in a region of the loader.
struct Batch {
  TaskId consumer{};
  std::int64_t loading_ns = 0;
};

/// Host time in regions whose name the pattern finds, by rank, one batch per task.
[[nodiscard]] std::map<std::int32_t, std::vector<Batch>> batches_of(
    const TaskGraph& graph, const selecting::TextPattern& pattern);

/// Distance between batches in a run; 0: there is one.
[[nodiscard]] std::int64_t interval_of(const std::vector<Batch>& batches, const Timeline& timeline);

/// Host lanes "data loader worker 0", ...; the first of them, the others follow.
LaneId add_worker_lanes(Editor& editor, std::int32_t rank, std::size_t workers);

}  // namespace foretrace::editing
