// Edits of a change by the task that they concern.
#include <algorithm>
#include <utility>

#include "sim/graph/commit/commit_parts.h"

namespace foretrace::committing {

namespace {

bool less(const LagEdit& a, const LagEdit& b) {
  return std::pair{a.task, a.kind} < std::pair{b.task, b.kind};
}

}  // namespace

TakenAway::TakenAway(const TaskGraph& graph, const Change& change)
    : rows_(change.removed_dependencies) {
  if (rows_.empty()) return;
  std::stable_sort(
      rows_.begin(), rows_.end(),
      [](const DependencyRemoval& a, const DependencyRemoval& b) { return a.task < b.task; });
  touched_.assign(graph.size(), false);
  for (const DependencyRemoval& row : rows_) {
    if (index(row.task) < graph.size()) touched_[index(row.task)] = true;
  }
}

template <typename Matches>
bool TakenAway::any(TaskId task, DependencyKind kind, const Matches& matches) const {
  if (!touches(task)) return false;
  auto row = std::lower_bound(
      rows_.begin(), rows_.end(), task,
      [](const DependencyRemoval& left, TaskId right) { return left.task < right; });
  for (; row != rows_.end() && row->task == task; ++row) {
    if (row->kind == kind && (row->source == none<TaskId> || matches(row->source))) return true;
  }
  return false;
}

bool TakenAway::dependency(TaskId task, DependencyKind kind, TaskId source) const {
  return any(task, kind, [source](TaskId given) { return given == source; });
}

bool TakenAway::wait(const Wait& wait) const {
  return any(wait.task, wait.kind, [](TaskId) { return false; });
}

LagEdits::LagEdits(const Change& change) : edits_(change.lags) {
  std::stable_sort(edits_.begin(), edits_.end(), less);
}

bool LagEdits::touches(TaskId task) const {
  if (edits_.empty()) return false;
  const auto found = std::lower_bound(edits_.begin(), edits_.end(), LagEdit{task}, less);
  return found != edits_.end() && found->task == task;
}

std::int64_t LagEdits::lag(TaskId task, DependencyKind kind, std::int64_t lag_ns) const {
  if (edits_.empty()) return lag_ns;
  const LagEdit key{task, kind, 0};
  const auto found = std::lower_bound(edits_.begin(), edits_.end(), key, less);
  return found == edits_.end() || less(key, *found) ? lag_ns : found->lag_ns;
}

}  // namespace foretrace::committing
