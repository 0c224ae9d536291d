// Primitives that add: tasks, a launch with its device work, works and lanes.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/edit/weights.h"
#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"

namespace foretrace::transform {

/// The id that the next inserted task of this change gets.
[[nodiscard]] TaskId next_task(const Change& change, const TaskGraph& graph);

/// A work like `like` under another name (empty: the same name); id as Change counts works.
WorkId add_work(Change& change, const TaskGraph& graph, const Work& like,
                std::string_view name = {});

/// A new lane; id as Change counts lanes.
LaneId add_lane(Change& change, const TaskGraph& graph, Lane lane);

/// A task like an existing one: its lane, work, kind, phase, layer and step; no segment.
[[nodiscard]] TaskSpec like(const TaskGraph& graph, TaskId task);

///   before   h: a b        after insert(x, a, after)   h: a x b
TaskId insert(Change& change, const TaskGraph& graph, const TaskSpec& task, TaskId anchor,
              Place place = Place::after);

/// Device work with the call that enqueues it.
struct LaunchPair {
  TaskId launch{};
  TaskId device{};
};
/// From which point of a call the latency of its work counts.
enum class LatencyFrom : std::uint8_t { end, start };
struct PairSpec {
  TaskSpec launch;
  TaskSpec device;
  std::int64_t latency_ns = 0;  ///< from the call to the earliest start of the work
  TaskId after = none<TaskId>;  ///< both come after this task in program order
  LatencyFrom latency_from = LatencyFrom::end;
};

///   before   h: l1 ------- l2           after insert_pair(after k1)   h: l1 ----- x ----- l2
///            s:    k1(l1)     k2(l2)                                  s:    k1(l1)  y(x) k2(l2)
///
/// The anchor is normally the last device task of the launch before, so that streams keep their
/// order.
LaunchPair insert_pair(Change& change, const TaskGraph& graph, const PairSpec& spec);

}  // namespace foretrace::transform
