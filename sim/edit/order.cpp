// Primitives that change where and when.
#include "sim/edit/order.h"

namespace foretrace::transform {

void move(Change& change, std::span<const TaskId> tasks, LaneId lane) {
  for (const TaskId task : tasks) change.moved.push_back({task, lane});
}

void reorder(Change& change, std::span<const TaskId> tasks, TaskId anchor, Place place) {
  for (const TaskId task : tasks) change.reordered.push_back({task, anchor, place});
}

void set_order(Change& change, std::span<const TaskId> tasks) {
  for (std::size_t i = 1; i < tasks.size(); ++i) {
    change.reordered.push_back({tasks[i], tasks[i - 1], Place::after});
  }
}

void prioritize(Change& change, std::span<const TaskId> tasks, std::int32_t priority) {
  for (const TaskId task : tasks) change.priorities.push_back({task, priority});
}

void set_policy(Change& change, LaneId lane, LanePolicy policy) {
  change.policies.push_back({lane, policy});
}

void set_queue_depth(Change& change, LaneId lane, std::uint32_t depth) {
  change.queues.push_back({lane, depth});
}

}  // namespace foretrace::transform
