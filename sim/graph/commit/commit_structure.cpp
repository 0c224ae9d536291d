// The path of commit() that rebuilds the graph: new order, spliced dependencies, waits as rules.
#include <algorithm>
#include <utility>

#include "sim/graph/commit/assemble.h"
#include "sim/graph/commit/commit_parts.h"
#include "sim/graph/commit/draft.h"
#include "sim/graph/renumber.h"

namespace foretrace::committing {

namespace {

class Rebuild {
 public:
  Rebuild(const TaskGraph& graph, const Change& change, Placement placement)
      : graph_(graph),
        change_(change),
        placement_(std::move(placement)),
        taken_away_(graph, change),
        stand_ins_(graph, change),
        lag_edits_(change),
        context_(graph.context()) {}

  Result<Committed> run() {
    extend_context();
    tasks_ = gather_tasks(graph_, change_, placement_);
    heirs_ = hand_down(graph_, placement_, context_.lanes, tasks_);
    const std::vector<LaneId>& lane = tasks_.columns.lane;
    const WaitSight sight(graph_, placement_, context_.lanes, lane);
    const Ghosts ghosts({graph_, taken_away_, placement_, stand_ins_, sight, lane});
    links_ = carry_over_links(
        {graph_, change_, placement_, taken_away_, stand_ins_, ghosts, lag_edits_, sight, lane});
    carry_over_context(placement_, heirs_, context_, tasks_);
    carry_over_uses();
    carry_over_waits(ghosts);
    return build();
  }

 private:
  [[nodiscard]] TaskId new_id(TaskId task) const { return placement_.new_id[index(task)]; }
  [[nodiscard]] Point new_point(Point point) const { return placement_.new_point(point); }

  void extend_context() {
    const auto old_lanes = static_cast<std::ptrdiff_t>(context_.lanes.size());
    context_.lanes.insert(context_.lanes.end(), change_.new_lanes.begin(), change_.new_lanes.end());
    // Lanes of modelled jobs count classes, whose first ranks are others.
    for (auto lane = context_.lanes.begin() + old_lanes; lane != context_.lanes.end(); ++lane) {
      const bool known = std::any_of(context_.lanes.begin(), lane,
                                     [rank = lane->rank](const Lane& l) { return l.rank == rank; });
      if (!known) context_.rank_classes.push_back({lane->rank, 1});
    }
    apply_works(change_, context_);
    apply_policies(change_, context_);
    if (touches_tensors(graph_, change_)) apply_tensors(graph_, change_, context_);
    apply_parameters(change_, context_);
  }

  /// What read a parameter hands it to what stands in for it, else to the next of its lane.
  void carry_over_uses() {
    renumber_uses(context_.parameters, [this](const ParameterUse& use) {
      const TaskId task = use.task;
      if (!placement_.removed(task)) return new_id(task);
      const StandIn* group = stand_ins_.of(task);
      if (group != nullptr) return new_id(group->exit);
      if (use.role == ParameterRole::update) return none<TaskId>;  // nothing does it instead
      const Heir& heir = heirs_[placement_.ghost[index(task)]];
      const TaskId next = heir.task != none<TaskId> ? heir.task : heir.previous;
      return next == none<TaskId> ? next : new_id(next);
    });
  }

  void carry_over_waits(const Ghosts& ghosts) {
    std::size_t kept = 0;
    for (Wait wait : context_.waits) {
      if (taken_away_.wait(wait)) continue;
      wait.lag_ns = lag_edits_.lag(wait.task, wait.kind, wait.lag_ns);
      const TaskId at = wait.at;
      if (placement_.removed(wait.task)) {
        // A blocking call that is gone blocks nobody; a stream still waits for its event.
        const StandIn* group = stand_ins_.of(wait.task);
        const TaskId heir =
            group != nullptr ? group->entry : heirs_[placement_.ghost[index(wait.task)]].task;
        const bool blocks = group == nullptr && is_host(graph_.kind(wait.task));
        if (blocks || heir == none<TaskId>) continue;
        wait.at = old_position(at);
        wait.task = heir;
      } else {
        wait.at = at == wait.task ? new_id(at) : old_position(at);
      }
      wait.late_after = new_point(ghosts.condition(wait.late_after, wait.task));
      wait.task = new_id(wait.task);
      context_.waits[kept++] = wait;
    }
    context_.waits.resize(kept);
    for (Wait wait : change_.new_waits) {
      if (const StandIn* group = stand_ins_.of(wait.task)) wait.task = group->entry;
      wait.late_after = ghosts.condition(wait.late_after, wait.task);
      const bool end = index(wait.at) == placement_.new_id.size();
      if (wait.at == wait.task) {
        wait.at = new_id(wait.at);
      } else {
        wait.at = end ? end_position() : placement_.position[index(wait.at)];
      }
      wait.task = new_id(wait.task);
      wait.late_after = new_point(wait.late_after);
      context_.waits.push_back(wait);
    }
  }

  [[nodiscard]] TaskId end_position() const { return make_id<TaskId>(placement_.order.size()); }
  /// Behind the last task of the graph is a position, too.
  [[nodiscard]] TaskId old_position(TaskId at) const {
    return placement_.new_position(at, graph_.size());
  }

  Result<Committed> build() {
    // Ids are right by now; what is left to check is what the edits add up to.
    const Parts parts{context_, tasks_.columns, tasks_.duration_ns, tasks_.segment_ns,
                      links_.dependencies};
    FORETRACE_TRY(check_weights(parts));
    std::vector<TaskId> sorted_id;
    FORETRACE_TRY(auto graph,
                  order_and_assemble({std::move(context_), std::move(tasks_.columns),
                                      std::move(tasks_.duration_ns), std::move(tasks_.segment_ns),
                                      std::move(links_.slots), std::move(links_.dependencies)},
                                     sorted_id));
    Committed committed;
    committed.graph = std::move(graph);
    committed.new_id = std::move(placement_.new_id);
    if (!sorted_id.empty()) {
      for (TaskId& id : committed.new_id) {
        if (id != none<TaskId>) id = sorted_id[index(id)];
      }
    }
    for (const DurationEdit& edit : change_.durations) {
      keep_bounds(edit, committed.new_id[index(edit.task)], committed);
    }
    return committed;
  }

  const TaskGraph& graph_;
  const Change& change_;
  Placement placement_;
  TakenAway taken_away_;
  StandIns stand_ins_;
  LagEdits lag_edits_;
  GraphContext context_;
  NewTasks tasks_;
  std::vector<Heir> heirs_;
  Links links_;
};

}  // namespace

Result<Committed> commit_structure(const TaskGraph& graph, const Change& change,
                                   std::vector<Fate> fate) {
  FORETRACE_TRY(auto placement, place(graph, change, std::move(fate)));
  return Rebuild(graph, change, std::move(placement)).run();
}

}  // namespace foretrace::committing
