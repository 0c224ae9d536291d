// Edits of where and when.
#include "sim/edit/editor.h"

namespace foretrace {

void Editor::move(std::span<const TaskId> tasks, LaneId lane) {
  for (const TaskId task : tasks) change_.moved.push_back({task, lane});
}

void Editor::reorder(std::span<const TaskId> tasks, TaskId anchor, Place place) {
  for (const TaskId task : tasks) change_.reordered.push_back({task, anchor, place});
}

void Editor::set_order(std::span<const TaskId> tasks) {
  TaskId stays = tasks.empty() ? none<TaskId> : tasks.front();
  for (std::size_t i = 1; i < tasks.size(); ++i) {
    // What has been moved stands directly behind what stays.
    if (tasks[i] > stays) {
      stays = tasks[i];
    } else {
      change_.reordered.push_back({tasks[i], tasks[i - 1], Place::after});
    }
  }
}

void Editor::prioritize(std::span<const TaskId> tasks, std::int32_t priority) {
  for (const TaskId task : tasks) change_.priorities.push_back({task, priority});
}

void Editor::set_policy(LaneId lane, LanePolicy policy) {
  change_.policies.push_back({lane, policy});
}

void Editor::set_queue_depth(LaneId lane, std::uint32_t depth) {
  change_.queues.push_back({lane, depth});
}

}  // namespace foretrace
