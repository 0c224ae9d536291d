// Positions in program order stand for paths: every dependency that an edit makes goes forward.
#include "sim/edit/group_place.h"

#include <algorithm>

#include <fmt/format.h>

namespace foretrace {

namespace {

/// True for what a task waits for besides its turn and its launch.
bool is_wait(const Link& link) {
  return !link.on_lane() && link.kind != DependencyKind::queue &&
         link.kind != DependencyKind::launch;
}

}  // namespace

bool GroupPlace::is_member(TaskId task) const {
  return std::binary_search(members_.begin(), members_.end(), task) ||
         std::binary_search(calls_.begin(), calls_.end(), task);
}

TaskId GroupPlace::own_call(TaskId member) const {
  const TaskId call = launch_of(graph_, member);
  const bool own = call != none<TaskId> && is_plain_launch(graph_, call) &&
                   !editor_.is_gone(call) && launched_by(graph_, call).only() == member;
  return own ? call : none<TaskId>;
}

bool GroupPlace::add(TaskId member) {
  if (index(member) >= graph_.size()) return refuse("a task does not exist");
  if (editor_.is_gone(member) || editor_.is_replaced(member)) {
    return refuse("an edit before has removed or replaced one of the tasks");
  }
  if (of_ == Of::host) {
    if (!is_host(graph_.kind(member))) return refuse("a task is no host task");
    return add_call(member) && find_slot();
  }
  return add_device(member) && find_slot();
}

bool GroupPlace::add_device(TaskId member) {
  if (!is_device(graph_.kind(member))) return refuse("a task is no device work");
  if (graph_.work(member).part != TaskPart::whole) return refuse("a task is half of an operation");
  const TaskId call = own_call(member);
  if (call != none<TaskId> && editor_.is_replaced(call)) {
    return refuse("an edit before has replaced one of the calls");
  }
  if (!members_.empty()) {
    if (graph_.lane_id(member) != graph_.lane_id(members_.front())) {
      return refuse("the tasks are on two streams");
    }
    if (member <= members_.back()) return refuse("the tasks are not in program order");
    if (calls_.empty() != (call == none<TaskId>)) {
      return refuse("some of the tasks have calls of their own");
    }
    if (!pass_stream(member)) return false;
  }
  members_.push_back(member);
  if (call != none<TaskId> && !add_call(call)) return false;
  come_after_sources(member, device_, call == none<TaskId>);
  come_before_dependents(member, device_);
  close(members_, Editor::position(member, Editor::before), device_);
  return true;
}

bool GroupPlace::add_call(TaskId call) {
  if (!calls_.empty()) {
    if (graph_.lane_id(call) != graph_.lane_id(calls_.front())) {
      return refuse("the tasks are of two threads");
    }
    if (call <= calls_.back()) return refuse("the calls are not in program order");
    if (!pass_thread(call)) return false;
  }
  calls_.push_back(call);
  come_after_sources(call, host_, true);
  come_before_dependents(call, host_);
  close(calls_, Editor::position(call, Editor::after), host_);
  return true;
}

/// What lies between two members of a stream comes after their stand-in; the stream made the later
/// member wait for whatever it waits for.
bool GroupPlace::pass_stream(TaskId member) {
  TaskId task = next_on_lane(graph_, members_.back());
  for (; task != none<TaskId> && task != member; task = next_on_lane(graph_, task)) {
    between_.push_back(task);
    come_after_sources(task, device_, false);
    if (!editor_.is_gone(task)) {
      device_.before = std::min(device_.before, editor_.position_of(task));
    }
  }
  return task == member || refuse("the tasks are not in program order");
}

/// A call in between that had to wait for something holds up the calls behind it.
bool GroupPlace::pass_thread(TaskId call) {
  TaskId task = next_on_lane(graph_, calls_.back());
  for (; task != none<TaskId> && task != call; task = next_on_lane(graph_, task)) {
    const Sources links = sources(graph_, task);
    if (editor_.is_gone(task)) {
      // A blocking call that is gone blocks nobody.
      for (const Link& link : links) {
        if (!is_wait(link) || link.kind == DependencyKind::synchronization) continue;
        host_.after = std::max(host_.after, editor_.position_of(task_of(link.source)));
      }
    } else if (std::any_of(links.begin(), links.end(), is_wait) ||
               editor_.added_into_.contains(task)) {
      host_.after = std::max(host_.after, editor_.position_of(task));
    }
  }
  return task == call || refuse("the calls are not in program order");
}

void GroupPlace::come_after_sources(TaskId task, Bounds& bounds, bool launches) {
  const auto come_after = [&](Point point) {
    if (point == no_point || is_member(task_of(point))) return;
    bounds.after = std::max(bounds.after, editor_.position_of(task_of(point)));
  };
  for (const Link& link : sources(graph_, task)) {
    const bool launch = link.kind == DependencyKind::launch && launches;
    if (!launch && !is_wait(link)) continue;
    come_after(link.source);
    come_after(link.late_after);
  }
  const auto [first, last] = editor_.added_into_.equal_range(task);
  for (auto at = first; at != last; ++at) come_after(at->second.source);
}

void GroupPlace::come_before_dependents(TaskId task, Bounds& bounds) {
  const bool own = of_ == Of::device && is_host(graph_.kind(task));
  for (const Link& link : dependents(graph_, task)) {
    if (link.on_lane() || link.kind == DependencyKind::queue) continue;
    // The work of a member's call is the member.
    if (own && link.kind == DependencyKind::launch) continue;
    bounds.waiting.emplace(editor_.position_of(link.task), link.task);
  }
  const auto [first, last] = editor_.added_out_of_.equal_range(task);
  for (auto at = first; at != last; ++at) {
    bounds.waiting.emplace(editor_.position_of(at->second.task), at->second.task);
  }
}

/// Whoever waits for a member and stands before the last place that is possible now.
void GroupPlace::close(const std::vector<TaskId>& group, Position place, Bounds& bounds) {
  while (!bounds.waiting.empty() && bounds.waiting.top().first <= place) {
    const auto [position, task] = bounds.waiting.top();
    bounds.waiting.pop();
    if (std::binary_search(group.begin(), group.end(), task)) continue;
    bounds.before = std::min(bounds.before, position);
  }
}

bool GroupPlace::fits(std::size_t slot) const {
  const auto within = [](Position place, const Bounds& bounds) {
    return bounds.after < place && place < bounds.before;
  };
  const bool device =
      members_.empty() || within(Editor::position(members_[slot], Editor::before), device_);
  const bool host = calls_.empty() || within(Editor::position(calls_[slot], Editor::after), host_);
  return device && host;
}

/// What comes before the place only grows, so that places that were too early stay so.
bool GroupPlace::find_slot() {
  const std::size_t count = std::max(members_.size(), calls_.size());
  while (first_slot_ < count && !fits(first_slot_)) {
    const bool early =
        (!members_.empty() &&
         Editor::position(members_[first_slot_], Editor::before) <= device_.after) ||
        (!calls_.empty() && Editor::position(calls_[first_slot_], Editor::after) <= host_.after);
    if (!early) break;
    ++first_slot_;
  }
  return (first_slot_ < count && fits(first_slot_)) ||
         refuse(
             "a wait lies between the tasks, and something that waits for one of them before it");
}

std::size_t GroupPlace::slot(Stands stands) const {
  std::size_t slot = first_slot_;
  const std::size_t count = std::max(members_.size(), calls_.size());
  while (stands == Stands::last && slot + 1 < count && fits(slot + 1)) ++slot;
  return slot;
}

Result<GroupPlace> find_place(const Editor& editor, std::span<const TaskId> group,
                              GroupPlace::Of of) {
  if (group.empty()) return Error{ErrorCode::bad_usage, "edit: a group without tasks"};
  GroupPlace place(editor, of);
  for (const TaskId task : group) {
    if (place.add(task)) continue;
    return Error{ErrorCode::bad_usage,
                 fmt::format("edit: tasks {} to {} cannot become one: {}", index(group.front()),
                             index(task), place.reason())};
  }
  return place;
}

}  // namespace foretrace
