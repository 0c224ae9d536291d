// Primitives that change where and when: move, reorder, priorities, policies, queue depths.
#pragma once

#include <cstdint>
#include <span>

#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"

namespace foretrace::transform {

///   before   s: a k b   s2: c        after move({k}, s2)   s: a b   s2: k c
///
/// The place in program order stays, and decides the order on the new lane.
void move(Change& change, std::span<const TaskId> tasks, LaneId lane);

///   before   s: a b c d        after reorder({a, b}, d, after)   s: c d a b
///
/// The tasks keep their order among each other.
void reorder(Change& change, std::span<const TaskId> tasks, TaskId anchor,
             Place place = Place::after);

///   before   s: a b c        after set_order({c, a, b})   s: c a b
///
/// A schedule by hand: the tasks follow each other as they are listed, from the place of the first
/// listed one on. A task that is moved before its launch takes the launch along.
void set_order(Change& change, std::span<const TaskId> tasks);

/// Smaller goes first on lanes with LanePolicy::priority. The event-driven engine reads it.
void prioritize(Change& change, std::span<const TaskId> tasks, std::int32_t priority);

/// How the event-driven engine chooses among the ready tasks of a lane.
void set_policy(Change& change, LaneId lane, LanePolicy policy);

/// How many entries a stream holds ahead of the executing one; 0: no limit.
void set_queue_depth(Change& change, LaneId lane, std::uint32_t depth);

}  // namespace foretrace::transform
