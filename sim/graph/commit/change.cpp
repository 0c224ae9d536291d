// What a change touches, and commit(): check, then the cheap path or the rebuild.
#include "sim/graph/change.h"

#include <algorithm>
#include <utility>

#include "sim/graph/commit/commit_parts.h"
#include "sim/graph/links.h"
#include "sim/graph/validate.h"

namespace foretrace {

bool Change::changes_topology() const {
  return successor != nullptr ||
         !(removed.empty() && stand_ins.empty() && new_lanes.empty() && inserted.empty() &&
           new_dependencies.empty() && new_waits.empty() && removed_dependencies.empty() &&
           moved.empty() && reordered.empty() && queues.empty());
}

bool Change::empty() const {
  return !changes_topology() && durations.empty() && segments.empty() && lags.empty() &&
         works.empty() && policies.empty() && priorities.empty() && tensors.empty() &&
         new_tensors.empty() && parameters == nullptr;
}

namespace {

/// Every dependency that the edit means has this lag.
bool keeps_lag(const TaskGraph& graph, const LagEdit& edit) {
  bool has_any = false;
  for (const Link& link : sources(graph, edit.task)) {
    if (link.kind != edit.kind) continue;
    if (link.lag_ns != edit.lag_ns) return false;
    has_any = true;
  }
  return has_any;
}

}  // namespace

std::size_t Change::tasks_changed(const TaskGraph& graph) const {
  if (successor != nullptr) return successor->graph.size();
  std::vector<TaskId> tasks;
  const auto is_new = [&](TaskId task) { return index(task) >= graph.size(); };
  const auto collect = [&](const auto& edits) {
    for (const auto& edit : edits) {
      if (!is_new(edit.task)) tasks.push_back(edit.task);
    }
  };
  for (const DurationEdit& edit : durations) {
    if (is_new(edit.task) || edit.duration_ns == graph.duration_ns(edit.task)) continue;
    tasks.push_back(edit.task);
  }
  for (const SegmentEdit& edit : segments) {
    if (is_new(edit.task) || committing::keeps_time(graph, edit)) continue;
    tasks.push_back(edit.task);
  }
  for (const LagEdit& edit : lags) {
    if (!is_new(edit.task) && !keeps_lag(graph, edit)) tasks.push_back(edit.task);
  }
  collect(removed);
  collect(moved);
  collect(reordered);
  if (!std::is_sorted(tasks.begin(), tasks.end())) std::sort(tasks.begin(), tasks.end());
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  return tasks.size() + inserted.size();
}

Checks default_checks() {
#ifdef NDEBUG
  return Checks::none;
#else
  return Checks::all;
#endif
}

namespace {

Committed succeeded(const TaskGraph& graph, const Successor& next) {
  const auto bounds = [](const std::vector<float>& factors) {
    const bool are_tight =
        std::all_of(factors.begin(), factors.end(), [](float factor) { return factor == 1.0F; });
    return are_tight ? std::vector<float>{} : factors;
  };
  return {next.graph, std::vector<TaskId>(graph.size(), none<TaskId>), bounds(next.low),
          bounds(next.high)};
}

Result<Committed> commit_unchecked(const TaskGraph& graph, const Change& change) {
  FORETRACE_TRY(auto fate, committing::check_change(graph, change));
  FORETRACE_TRY(committing::check_tensors(graph, change));
  if (!change.changes_topology()) {
    FORETRACE_TRY(auto committed, committing::commit_weights(graph, change));
    if (committed.has_value()) return std::move(committed).value();
  }
  return committing::commit_structure(graph, change, std::move(fate));
}

}  // namespace

Result<Committed> commit(const TaskGraph& graph, const Change& change, Checks checks) {
  if (change.successor != nullptr) {
    if (checks == Checks::all) FORETRACE_TRY(validate(change.successor->graph));
    return succeeded(graph, *change.successor);
  }
  auto committed = commit_unchecked(graph, change);
  if (!committed || checks == Checks::none) return committed;
  FORETRACE_TRY(validate(committed->graph));
  FORETRACE_TRY(check_laws(graph, change, *committed));
  return committed;
}

namespace committing {

void apply_works(const Change& change, GraphContext& context) {
  context.communicators.insert(context.communicators.end(), change.new_communicators.begin(),
                               change.new_communicators.end());
  const auto name = [&](NameId id) { return context.names.intern(change.names[id]); };
  for (Work work : change.new_works) {
    work.name = name(work.name);
    work.operator_name = name(work.operator_name);
    work.shapes = name(work.shapes);
    work.types = name(work.types);
    context.works.push_back(work);
  }
}

void apply_policies(const Change& change, GraphContext& context) {
  for (const QueueEdit& edit : change.queues) {
    context.lanes[index(edit.lane)].queue_depth = edit.depth;
  }
  for (const PolicyEdit& edit : change.policies) {
    context.lanes[index(edit.lane)].policy = edit.policy;
  }
  if (change.priorities.empty()) return;
  // Later rows win: the new ones come first, and a stable sort keeps them there.
  std::vector<TaskPriority> rows;
  for (const PriorityEdit& edit : change.priorities) rows.push_back({edit.task, edit.priority});
  rows.insert(rows.end(), context.priorities.begin(), context.priorities.end());
  const auto less = [](const TaskPriority& a, const TaskPriority& b) { return a.task < b.task; };
  const auto same = [](const TaskPriority& a, const TaskPriority& b) { return a.task == b.task; };
  std::stable_sort(rows.begin(), rows.end(), less);
  rows.erase(std::unique(rows.begin(), rows.end(), same), rows.end());
  context.priorities = std::move(rows);
}

void keep_bounds(const DurationEdit& edit, TaskId task, Committed& committed) {
  if (edit.low == 1.0F && edit.high == 1.0F) return;
  if (committed.low.empty()) {
    committed.low.assign(committed.graph.size(), 1.0F);
    committed.high.assign(committed.graph.size(), 1.0F);
  }
  committed.low[index(task)] = edit.low;
  committed.high[index(task)] = edit.high;
}

}  // namespace committing

}  // namespace foretrace
