// What a task does to its rank while it runs: the claims from which a time is divided up.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/graph/task_graph.h"
#include "sim/result/timeline.h"

namespace foretrace {

/// What can go on at an instant, in the order in which it claims the instant.
enum class Activity : std::uint8_t { compute, transfer, waiting, copy, host };
inline constexpr std::size_t activity_count = 5;

struct ActivitySpan {
  Activity activity = Activity::compute;
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;  ///< not after `from_ns`: nothing
};

/// Per lane: a thread that enqueues device work, that such a thread waits for (a writer of
/// checkpoints), or that begins and ends the steps. The others (watchdogs) do not bind the device.
/// Every thread where none enqueues.
[[nodiscard]] std::vector<bool> launching_lanes(const TaskGraph& graph);

/// What a task on a device or a link does. A collective in two parts has arrived when it begins,
/// and waits until its finish starts.
[[nodiscard]] std::array<ActivitySpan, 2> device_activities(const TaskGraph& graph,
                                                            const Timeline& timeline, TaskId task);
/// The thread's own work before a task of it: its segment. In between it waits.
[[nodiscard]] ActivitySpan segment_activity(const TaskGraph& graph, const Timeline& timeline,
                                            TaskId task);

}  // namespace foretrace
