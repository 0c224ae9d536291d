#include "sim/engine/event/executed_graph.h"

#include <functional>
#include <map>
#include <queue>
#include <string>
#include <utility>

#include "sim/graph/commit/assemble.h"
#include "sim/graph/commit/draft.h"
#include "sim/graph/links.h"

namespace foretrace {
namespace {

using committing::Draft;

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// All tasks, those of the graph first; no dependencies yet.
Draft tasks_of(const TaskGraph& graph, const Execution& execution) {
  Draft draft{.context = graph.context(),
              .columns = graph.columns(),
              .duration_ns = *graph.weights().duration_ns,
              .segment_ns = *graph.weights().segment_ns,
              .slots = committing::Slots{},
              .dependencies = {}};
  const TaskColumns& appended = execution.appended;
  append(draft.columns.lane, appended.lane);
  append(draft.columns.work, appended.work);
  append(draft.columns.kind, appended.kind);
  append(draft.columns.phase, appended.phase);
  append(draft.columns.layer, appended.layer);
  append(draft.columns.step, appended.step);
  append(draft.columns.provenance, appended.provenance);
  append(draft.duration_ns, execution.appended_duration_ns);
  append(draft.segment_ns, execution.appended_segment_ns);
  // They are dependencies now.
  draft.context.waits.clear();
  for (Lane& lane : draft.context.lanes) lane.queue_depth = 0;
  return draft;
}

void name_repetitions(const TaskGraph& graph, std::string_view again, Draft& draft) {
  std::vector<bool> is_recorded(draft.context.works.size(), false);
  for (const WorkId work : graph.columns().work) is_recorded[index(work)] = true;
  std::map<WorkId, WorkId> repeated;
  for (std::size_t i = graph.size(); i < draft.size(); ++i) {
    WorkId& work = draft.columns.work[i];
    if (!is_recorded[index(work)]) continue;
    const auto [found, is_new] = repeated.try_emplace(work);
    if (is_new) {
      Work copy = draft.context.works[index(work)];
      copy.name = draft.context.names.intern(std::string(again) +
                                             std::string(draft.context.names[copy.name]));
      draft.context.works.push_back(copy);
      found->second = make_id<WorkId>(draft.context.works.size() - 1);
    }
    work = found->second;
  }
}

bool is_lane_order(DependencyKind kind) {
  return kind == DependencyKind::program_order || kind == DependencyKind::stream_order;
}

/// A call that was put before a task which was ready comes after the host time before that task.
void move_segments(std::size_t recorded, const Execution& execution, Draft& draft) {
  std::map<TaskId, TaskId> first;
  std::map<TaskId, TaskId> moved;
  for (const Dependency& dependency : execution.added_dependencies) {
    const TaskId from = task_of(dependency.source);
    if (!is_lane_order(dependency.kind) || index(from) < recorded ||
        index(dependency.task) >= recorded) {
      continue;
    }
    const auto [place, is_first] = first.try_emplace(dependency.task, from);
    std::int64_t& segment_ns = draft.segment_ns[index(dependency.task)];
    if (!is_first || dependency.lag_ns != 0 || segment_ns <= 0) continue;
    draft.segment_ns[index(from)] += std::exchange(segment_ns, 0);
    moved.emplace(dependency.task, from);
  }
  for (SegmentPart& part : draft.context.segment_parts) {
    const auto found = moved.find(part.task);
    if (found != moved.end()) part.task = found->second;
  }
}

/// Who comes before whom, and the tasks that wait for nobody by their start.
class Order {
 public:
  Order(const Timeline& timeline, std::size_t tasks)
      : timeline_(timeline), successors_(tasks), open_(tasks, 0) {}

  void add(TaskId before, TaskId task) {
    successors_[index(before)].push_back(task);
    ++open_[index(task)];
  }

  /// New id per task: by start, where the order leaves a choice.
  [[nodiscard]] Result<std::vector<TaskId>> new_ids() {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (open_[i] == 0) push(make_id<TaskId>(i));
    }
    std::vector<TaskId> new_id(open_.size());
    std::size_t placed = 0;
    for (; !ready_.empty(); ++placed) {
      const TaskId task = ready_.top().second;
      ready_.pop();
      new_id[index(task)] = make_id<TaskId>(placed);
      for (const TaskId next : successors_[index(task)]) {
        if (--open_[index(next)] == 0) push(next);
      }
    }
    if (placed != new_id.size()) {
      return Error{ErrorCode::cyclic_graph, "executed graph: its dependencies have no order"};
    }
    return new_id;
  }

 private:
  using Entry = std::pair<std::int64_t, TaskId>;
  void push(TaskId task) { ready_.emplace(timeline_.start_ns(task), task); }

  const Timeline& timeline_;
  std::vector<std::vector<TaskId>> successors_;
  std::vector<std::uint32_t> open_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready_;
};

/// The draft's dependencies, and the order that they and the lanes give.
Result<std::vector<TaskId>> connect(const TaskGraph& graph, const Execution& execution,
                                    Draft& draft) {
  Order order(execution.timeline, draft.size());
  const auto take = [&](const Dependency& dependency) {
    order.add(task_of(dependency.source), dependency.task);
    if (dependency.late_after != no_point) {
      order.add(task_of(dependency.late_after), dependency.task);
    }
    // assemble() links the lanes.
    if (!is_lane_order(dependency.kind)) draft.dependencies.push_back(dependency);
  };
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    const bool is_ordered = graph.lane(task).policy == LanePolicy::program_order;
    for (const Link& dependency : sources(graph, task)) {
      if (is_ordered || !is_lane_order(dependency.kind)) take(dependency);
    }
  }
  for (const Dependency& dependency : execution.added_dependencies) take(dependency);
  return order.new_ids();
}

}  // namespace

Result<ExecutedGraph> executed_graph(const TaskGraph& graph, const Execution& execution,
                                     std::string_view again) {
  Draft draft = tasks_of(graph, execution);
  FORETRACE_CHECK(execution.timeline.size() == draft.size());
  name_repetitions(graph, again, draft);
  move_segments(graph.size(), execution, draft);
  FORETRACE_TRY(const std::vector<TaskId> new_id, connect(graph, execution, draft));

  ExecutedGraph executed;
  executed.timeline = execution.timeline;
  executed.is_appended.assign(draft.size(), false);
  for (std::size_t i = 0; i < draft.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    const TaskId to = new_id[i];
    executed.timeline.points[index(start_of(to))] = execution.timeline.start_ns(task);
    executed.timeline.points[index(end_of(to))] = execution.timeline.end_ns(task);
    executed.is_appended[index(to)] = i >= graph.size();
  }
  committing::renumber(draft, new_id);
  std::vector<TaskId> unchanged;
  FORETRACE_TRY(TaskGraph assembled, committing::order_and_assemble(std::move(draft), unchanged));
  FORETRACE_CHECK(unchanged.empty());
  executed.graph = std::move(assembled);
  return executed;
}

}  // namespace foretrace
