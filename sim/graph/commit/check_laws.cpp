// Both laws of an edit, examined on the graphs before and after: who waited for whom, and whether a
// path still says so.
#include <vector>

#include <fmt/format.h>

#include "sim/graph/change.h"
#include "sim/graph/commit/commit_parts.h"
#include "sim/graph/links.h"

namespace foretrace {

namespace {

using committing::Fate;

/// Whether one point of the new graph comes before the start of a task, by any path.
class Paths {
 public:
  explicit Paths(const TaskGraph& graph) : graph_(graph), seen_(graph.size(), 0) {}

  [[nodiscard]] bool lead(Point from, TaskId to) {
    const TaskId source = task_of(from);
    if (source >= to) return false;
    ++round_;
    open_.assign(1, to);
    while (!open_.empty()) {
      const TaskId task = open_.back();
      open_.pop_back();
      for (const Link& link : sources(graph_, task)) {
        const TaskId before = task_of(link.source);
        if (before == source && (!is_end(from) || is_end(link.source))) return true;
        // Whoever comes later on the lane comes after the end.
        if (before > source && graph_.lane_id(before) == graph_.lane_id(source)) return true;
        if (before <= source || seen_[index(before)] == round_) continue;
        seen_[index(before)] = round_;
        open_.push_back(before);
      }
    }
    return false;
  }

 private:
  const TaskGraph& graph_;
  std::vector<std::uint32_t> seen_;  // per task: the last search that came there
  std::uint32_t round_ = 0;
  std::vector<TaskId> open_;
};

class LawChecker {
 public:
  LawChecker(const TaskGraph& before, const Change& change, const Committed& committed)
      : before_(before),
        change_(change),
        committed_(committed),
        taken_away_(before, change),
        stand_ins_(before, change),
        goes_(before.size(), false),
        seen_(before.size(), 0),
        paths_(committed.graph) {
    for (const Removal& removal : change.removed) goes_[index(removal.task)] = true;
  }

  Status run() {
    for (const StandIn& group : change_.stand_ins) {
      FORETRACE_TRY(check_group(group));
    }
    for (std::size_t t = 0; t < before_.size(); ++t) {
      const auto task = make_id<TaskId>(t);
      if (goes_[t] || stand_ins_.of(task) != nullptr) continue;
      FORETRACE_TRY(check_task(task, {start_of(task), nullptr}));
    }
    return ok_status();
  }

 private:
  /// True for links that an edit has to keep. Launches are made anew, queues are counted anew.
  [[nodiscard]] bool counts(const Link& link) const {
    if (link.on_lane() || link.kind == DependencyKind::launch ||
        link.kind == DependencyKind::queue) {
      return false;
    }
    const TaskId source = link.symbolic ? none<TaskId> : task_of(link.source);
    if (taken_away_.dependency(link.task, link.kind, source)) return false;
    // A blocking call that is gone blocks nobody.
    return !(goes_[index(link.task)] && stand_ins_.of(link.task) == nullptr &&
             link.kind == DependencyKind::synchronization && is_host(before_.kind(link.task)));
  }

  [[nodiscard]] bool lost(TaskId task) const {
    return goes_[index(task)] && stand_ins_.of(task) == nullptr;
  }
  [[nodiscard]] TaskId new_id(TaskId task) const {
    return committed_.new_id.empty() ? task : committed_.new_id[index(task)];
  }

  /// What takes the place of the start of a task, and the group that it stands for.
  struct Stand {
    Point point = no_point;
    const StandIn* group = nullptr;
  };

  /// First law: the entry waits for whatever the members waited for.
  Status check_group(const StandIn& group) {
    for (const std::vector<TaskId>* tasks : {&group.members, &group.between}) {
      for (const TaskId task : *tasks) {
        FORETRACE_TRY(check_task(task, {start_of(group.entry), &group}));
      }
    }
    return ok_status();
  }

  /// What `task` waited for comes before the point that takes the place of its start. Second law:
  /// that is the stand-in of a source, if it has one, or what a lost source waited for.
  Status check_task(TaskId task, const Stand& place) {
    for (const Link& link : sources(before_, task)) {
      if (!counts(link)) continue;
      const TaskId source = task_of(link.source);
      if (lost(source)) {
        FORETRACE_TRY(check_lost(source, task, place));
      } else if (place.group != nullptr || stand_ins_.of(source) != nullptr) {
        FORETRACE_TRY(check_path(link.source, task, place));
      }
    }
    const TaskId previous = previous_on_lane(before_, task);
    if (previous == none<TaskId> || !lost(previous) || moved(task)) return ok_status();
    return check_lost(previous, task, place);
  }

  /// What a lost task waited for, further lost tasks on the way included.
  Status check_lost(TaskId first, TaskId task, const Stand& place) {
    ++round_;
    std::vector<TaskId> open{first};
    while (!open.empty()) {
      const TaskId gone = open.back();
      open.pop_back();
      if (seen_[index(gone)] == round_) continue;
      seen_[index(gone)] = round_;
      const TaskId previous = previous_on_lane(before_, gone);
      if (previous != none<TaskId> && lost(previous)) open.push_back(previous);
      for (const Link& link : sources(before_, gone)) {
        if (!counts(link)) continue;
        if (lost(task_of(link.source))) {
          open.push_back(task_of(link.source));
        } else {
          FORETRACE_TRY(check_path(link.source, task, place));
        }
      }
    }
    return ok_status();
  }

  [[nodiscard]] bool moved(TaskId task) const {
    return !goes_[index(task)] && committed_.graph.lane_id(new_id(task)) != before_.lane_id(task);
  }

  Status check_path(Point old_source, TaskId task, const Stand& place) {
    const StandIn* group = stand_ins_.of(task_of(old_source));
    if (group != nullptr && group == place.group) return ok_status();
    const Point source = stand_ins_.point(old_source);
    const TaskId from = new_id(task_of(source));
    const TaskId to = new_id(task_of(place.point));
    if (from == to || paths_.lead(is_end(source) ? end_of(from) : start_of(from), to)) {
      return ok_status();
    }
    const auto name = [this](TaskId id) {
      return committing::describe(before_.context(), before_.columns(), id);
    };
    return Error{
        ErrorCode::cyclic_graph,
        fmt::format("edit: {} waited for {}, and their replacements do not wait for each other",
                    name(task), name(task_of(old_source)))};
  }

  const TaskGraph& before_;
  const Change& change_;
  const Committed& committed_;
  committing::TakenAway taken_away_;
  committing::StandIns stand_ins_;
  std::vector<bool> goes_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t round_ = 0;
  Paths paths_;
};

}  // namespace

Status check_laws(const TaskGraph& before, const Change& change, const Committed& committed) {
  if (change.removed.empty() && change.stand_ins.empty()) return ok_status();
  return LawChecker(before, change, committed).run();
}

}  // namespace foretrace
