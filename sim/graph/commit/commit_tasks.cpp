// Columns and weights of the tasks of the new graph.
#include <algorithm>
#include <utility>

#include "sim/graph/commit/commit_parts.h"

namespace foretrace::committing {

namespace {

/// Neighbours in the order of the change that stay neighbours.
struct Run {
  std::size_t first = 0;
  std::size_t count = 0;
};

class Gatherer {
 public:
  Gatherer(const TaskGraph& graph, const Change& change, const Placement& placement)
      : graph_(graph), change_(change), placement_(placement) {}

  NewTasks run() {
    gather_tasks();
    edit_tasks();
    return std::move(tasks_);
  }

 private:
  [[nodiscard]] TaskId new_id(TaskId task) const { return placement_.new_id[index(task)]; }

  /// Runs of neighbours are copied at once; inserted tasks come from their specs.
  template <typename T, typename FromSpec>
  void gather(std::vector<T>& to, const std::vector<T>& from, const FromSpec& from_spec) {
    to.resize(placement_.order.size());
    std::size_t next = 0;
    for (const Run& run : runs_) {
      if (run.first < from.size()) {
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(run.first), run.count,
                    to.begin() + static_cast<std::ptrdiff_t>(next));
      } else {
        for (std::size_t i = 0; i < run.count; ++i) {
          to[next + i] = from_spec(change_.inserted[run.first + i - from.size()].task);
        }
      }
      next += run.count;
    }
  }

  void find_runs() {
    for (const TaskId task : placement_.order) {
      const std::size_t id = index(task);
      const bool follows =
          !runs_.empty() && runs_.back().first + runs_.back().count == id && id != graph_.size();
      if (follows) {
        ++runs_.back().count;
      } else {
        runs_.push_back({id, 1});
      }
    }
  }

  void gather_tasks() {
    find_runs();
    const TaskColumns& from = graph_.columns();
    TaskColumns& to = tasks_.columns;
    gather(to.lane, from.lane, [](const TaskSpec& spec) { return spec.lane; });
    gather(to.work, from.work, [](const TaskSpec& spec) { return spec.work; });
    gather(to.kind, from.kind, [](const TaskSpec& spec) { return spec.kind; });
    gather(to.phase, from.phase, [](const TaskSpec& spec) { return spec.phase; });
    gather(to.layer, from.layer, [](const TaskSpec& spec) { return spec.layer; });
    gather(to.step, from.step, [](const TaskSpec& spec) { return spec.step; });
    gather(to.provenance, from.provenance, [](const TaskSpec& spec) { return spec.provenance; });
    gather(tasks_.duration_ns, *graph_.weights().duration_ns,
           [](const TaskSpec& spec) { return spec.duration_ns; });
    gather(tasks_.segment_ns, *graph_.weights().segment_ns,
           [](const TaskSpec& spec) { return spec.segment_ns; });
  }

  void edit_tasks() {
    for (const Move& move : change_.moved) {
      tasks_.columns.lane[index(new_id(move.task))] = move.lane;
    }
    for (const WorkEdit& edit : change_.works) {
      tasks_.columns.work[index(new_id(edit.task))] = edit.work;
    }
    for (const DurationEdit& edit : change_.durations) {
      const std::size_t task = index(new_id(edit.task));
      tasks_.duration_ns[task] = edit.duration_ns;
      if (!keeps_time(graph_, edit)) tasks_.columns.provenance[task] = edit.provenance;
    }
    for (const SegmentEdit& edit : change_.segments) {
      const std::size_t task = index(new_id(edit.task));
      tasks_.segment_ns[task] = edit.segment_ns;
      if (keeps_time(graph_, edit)) continue;
      Provenance& provenance = tasks_.columns.provenance[task];
      provenance = std::max(provenance, edit.provenance);
    }
  }

  const TaskGraph& graph_;
  const Change& change_;
  const Placement& placement_;
  NewTasks tasks_;
  std::vector<Run> runs_;
};

}  // namespace

NewTasks gather_tasks(const TaskGraph& graph, const Change& change, const Placement& placement) {
  return Gatherer(graph, change, placement).run();
}

}  // namespace foretrace::committing
