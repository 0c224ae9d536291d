#include "sim/graph/commit/known_tasks.h"

#include <fmt/format.h>

#include "sim/graph/commit/draft.h"

namespace foretrace::committing {

namespace {

/// Who waits for whom, as a change says it.
class LinkChecker {
 public:
  explicit LinkChecker(const KnownTasks& tasks)
      : tasks_(tasks), graph_(tasks.graph()), change_(tasks.change()) {}

  Status run() {
    for (const auto check : {&LinkChecker::stand_ins, &LinkChecker::dependencies,
                             &LinkChecker::waits, &LinkChecker::removed_dependencies}) {
      FORETRACE_TRY((this->*check)());
    }
    return ok_status();
  }

 private:
  Status stand_ins() {
    if (change_.stand_ins.empty()) return ok_status();
    member_.assign(graph_.size(), false);
    for (const StandIn& group : change_.stand_ins) {
      for (const TaskId task : {group.entry, group.exit}) {
        FORETRACE_TRY(tasks_.stays(task, "stand-in"));
      }
      for (const TaskId task : group.between) {
        if (index(task) >= graph_.size()) return exists_in_graph(task);
      }
      for (const TaskId task : group.members) {
        if (index(task) >= graph_.size()) return exists_in_graph(task);
        const bool goes = tasks_.goes(task);
        if (member_[index(task)] || (!goes && task != group.entry && task != group.exit)) {
          return bad(fmt::format("stand-in: {} {}", tasks_.name(task),
                                 goes ? "is a member of two groups" : "stays where it is"));
        }
        member_[index(task)] = true;
      }
    }
    return ok_status();
  }

  [[nodiscard]] Status exists_in_graph(TaskId task) const {
    return bad(fmt::format("stand-in: task {} is no task of the graph, got {} tasks", index(task),
                           graph_.size()));
  }

  /// As tasks_.stays(), or something stands in for the task.
  [[nodiscard]] Status has_place(TaskId task, const char* what) const {
    if (index(task) < member_.size() && member_[index(task)]) return ok_status();
    return tasks_.stays(task, what);
  }

  Status dependencies() {
    for (const Dependency& d : change_.new_dependencies) {
      if (d.source == no_point) {
        return bad(fmt::format("new dependency of {}: it has no source", tasks_.name(d.task)));
      }
      FORETRACE_TRY(has_place(d.task, "new dependency"));
      if (d.kind == DependencyKind::queue) return stated_queue(tasks_.name(d.task));
      FORETRACE_TRY(tasks_.exists(task_of(d.source), "new dependency"));
      if (d.late_after == no_point) continue;
      FORETRACE_TRY(tasks_.exists(task_of(d.late_after), "new dependency"));
    }
    return ok_status();
  }

  Status waits() {
    for (const Wait& w : change_.new_waits) {
      FORETRACE_TRY(has_place(w.task, "new wait"));
      if (w.kind == DependencyKind::queue) return stated_queue(tasks_.name(w.task));
      if (index(w.at) > tasks_.known()) {
        return bad(fmt::format("new wait of {}: position {} does not exist", tasks_.name(w.task),
                               index(w.at)));
      }
      if (w.lane != none<LaneId>) {
        FORETRACE_TRY(tasks_.lane_exists(w.lane, "new wait"));
      }
      if (w.late_after == no_point) continue;
      FORETRACE_TRY(tasks_.exists(task_of(w.late_after), "new wait"));
    }
    return ok_status();
  }

  Status removed_dependencies() {
    for (const DependencyRemoval& r : change_.removed_dependencies) {
      FORETRACE_TRY(tasks_.exists(r.task, "dependency removal"));
      if (r.source == none<TaskId>) continue;
      FORETRACE_TRY(tasks_.exists(r.source, "dependency removal"));
    }
    return ok_status();
  }

  const KnownTasks& tasks_;
  const TaskGraph& graph_;
  const Change& change_;
  std::vector<bool> member_;  // per task of the graph: something stands in for it; empty: for none
};

}  // namespace

std::string KnownTasks::name(TaskId task) const {
  if (index(task) < graph_.size()) return describe(graph_.context(), graph_.columns(), task);
  if (index(task) < known_) return fmt::format("inserted task {}", index(task) - graph_.size());
  return fmt::format("task {}", index(task));
}

Status KnownTasks::exists(TaskId task, const char* what) const {
  if (index(task) < known_) return ok_status();
  return bad(fmt::format("{}: task {} does not exist, got {} tasks and {} inserted ones", what,
                         index(task), graph_.size(), change_.inserted.size()));
}

Status KnownTasks::stays(TaskId task, const char* what) const {
  if (index(task) < known_ && (fate_.empty() || fate_[index(task)] == Fate::kept)) {
    return ok_status();
  }
  FORETRACE_TRY(exists(task, what));
  return bad(fmt::format("{}: {} is removed by the same change", what, name(task)));
}

Status KnownTasks::lane_exists(LaneId lane, const char* what) const {
  if (index(lane) < lanes_) return ok_status();
  return bad(fmt::format("{}: lane {} does not exist, got {} lanes", what, index(lane), lanes_));
}

Status check_links(const KnownTasks& tasks) { return LinkChecker(tasks).run(); }

}  // namespace foretrace::committing
