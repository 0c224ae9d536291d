#include "models/editing/kernels/copied_waits.h"

#include <algorithm>
#include <set>
#include <utility>

namespace foretrace::editing {

void CopiedWaits::begin(std::vector<TaskId> gates) {
  gates_ = std::move(gates);
  ends_.clear();
}

void CopiedWaits::begin_before(TaskId kernel) {
  begin();
  for (const Link& link : sources(graph_, kernel)) {
    if (link.source == no_point || !is_device(graph_.kind(task_of(link.source)))) continue;
    gates_.push_back(task_of(link.source));
  }
}

LaneId CopiedWaits::lane_of(TaskId task) {
  return index(task) < graph_.size() ? graph_.lane_id(task) : editor_.spec_of(task).lane;
}

/// A stream keeps its order without being told.
void CopiedWaits::wait_for(TaskId task, std::span<const TaskId> sources) {
  for (const TaskId source : sources) {
    if (lane_of(source) != lane_of(task)) {
      editor_.depend(task, source, DependencyKind::event_wait);
    }
  }
}

void CopiedWaits::stand(TaskId kernel, TaskId copy) {
  copies_[kernel] = copy;
  earliest_ = earliest_ == none<TaskId> ? kernel : std::min(earliest_, kernel);
  if (ends_.insert_or_assign(lane_of(copy), copy).second) wait_for(copy, gates_);
}

void CopiedWaits::put(TaskId kernel, TaskId copy) {
  // Sets and copies of memory may not be repeated: what they wait for, the next kernel does.
  std::set<TaskId> seen = {kernel};
  std::vector<TaskId> open = {kernel};
  while (!open.empty()) {
    const TaskId task = open.back();
    open.pop_back();
    for (const Link& link : sources(graph_, task)) {
      if (link.source == no_point || (task == kernel && link.on_lane() && is_copied(link))) {
        continue;
      }
      const TaskId source = task_of(link.source);
      if (is_copied(link)) {
        carry(link, copy, task == kernel);
      } else if (is_device(graph_.kind(source)) && graph_.kind(source) != TaskKind::kernel &&
                 earliest_ != none<TaskId> && source > earliest_ && seen.insert(source).second) {
        open.push_back(source);
      }
    }
  }
  stand(kernel, copy);
}

void CopiedWaits::keep(TaskId kernel) { stand(kernel, kernel); }

/// What no copy was made of has been done before.
bool CopiedWaits::is_copied(const Link& link) const {
  return copies_.contains(task_of(link.source));
}

void CopiedWaits::carry(const Link& link, TaskId copy, bool is_own) {
  const TaskId source = copies_.at(task_of(link.source));
  if (!is_own || link.late_after != no_point) {
    editor_.depend(copy, source, DependencyKind::event_wait);
  } else {
    Dependency same = link.dependency();
    same.task = copy;
    same.source = is_end(link.source) ? end_of(source) : start_of(source);
    editor_.depend(same);
  }
}

void CopiedWaits::wait(TaskId task) { wait_for(task, ends()); }

std::vector<TaskId> CopiedWaits::ends() const {
  if (ends_.empty()) return gates_;
  std::vector<TaskId> ends;
  for (const auto& [lane, end] : ends_) ends.push_back(end);
  return ends;
}

}  // namespace foretrace::editing
