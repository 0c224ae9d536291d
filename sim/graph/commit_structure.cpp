// The path of commit() that rebuilds the graph: new order, spliced dependencies, waits as rules.
#include <algorithm>
#include <memory>
#include <utility>

#include "sim/graph/assemble.h"
#include "sim/graph/commit_detail.h"
#include "sim/graph/draft.h"

namespace foretrace::detail {

namespace {

/// Lag edits by task and kind.
class LagEdits {
 public:
  explicit LagEdits(const Change& change) : edits_(change.lags) {
    std::stable_sort(edits_.begin(), edits_.end(), less);
  }
  [[nodiscard]] bool touches(TaskId task) const {
    if (edits_.empty()) return false;
    const auto found = std::lower_bound(edits_.begin(), edits_.end(), LagEdit{task}, less);
    return found != edits_.end() && found->task == task;
  }
  /// The edited lag, or the given one.
  [[nodiscard]] std::int64_t lag(TaskId task, DependencyKind kind, std::int64_t lag_ns) const {
    if (edits_.empty()) return lag_ns;
    const LagEdit key{task, kind, 0};
    const auto found = std::lower_bound(edits_.begin(), edits_.end(), key, less);
    return found == edits_.end() || less(key, *found) ? lag_ns : found->lag_ns;
  }

 private:
  static bool less(const LagEdit& a, const LagEdit& b) {
    return std::pair{a.task, a.kind} < std::pair{b.task, b.kind};
  }
  std::vector<LagEdit> edits_;
};

/// Neighbours in the order of the change that stay neighbours.
struct Run {
  std::size_t first = 0;
  std::size_t count = 0;
};

class Rebuild {
 public:
  Rebuild(const TaskGraph& graph, const Change& change, Placement placement)
      : graph_(graph),
        change_(change),
        placement_(std::move(placement)),
        taken_away_(graph, change),
        ghosts_(graph, taken_away_, placement_),
        lag_edits_(change),
        context_(graph.context()) {}

  Result<Committed> run() {
    extend_context();
    gather_tasks();
    edit_tasks();
    heirs_ = hand_down(graph_, placement_, context_.lanes, tasks_);
    gather_dependencies();
    carry_over_context(placement_, heirs_, context_, tasks_);
    carry_over_waits();
    return build();
  }

 private:
  [[nodiscard]] TaskId new_id(TaskId task) const { return placement_.new_id[index(task)]; }
  [[nodiscard]] Point new_point(Point point) const {
    if (point == no_point) return point;
    const TaskId task = new_id(task_of(point));
    return is_end(point) ? end_of(task) : start_of(task);
  }
  [[nodiscard]] LaneId new_lane(TaskId task) const {
    return tasks_.columns.lane[index(new_id(task))];
  }

  void extend_context() {
    const std::size_t old_lanes = context_.lanes.size();
    context_.lanes.insert(context_.lanes.end(), change_.new_lanes.begin(), change_.new_lanes.end());
    for (std::size_t i = old_lanes; i < context_.lanes.size(); ++i) {
      const std::int32_t rank = context_.lanes[i].rank;
      auto& classes = context_.rank_classes;
      const bool known = std::any_of(classes.begin(), classes.end(),
                                     [rank](const RankClass& c) { return c.first_rank == rank; });
      if (!known) classes.push_back({rank, 1});
    }
    const auto name = [this](NameId id) { return context_.names.intern(change_.names[id]); };
    for (Work work : change_.new_works) {
      work.name = name(work.name);
      work.operator_name = name(work.operator_name);
      work.shapes = name(work.shapes);
      work.types = name(work.types);
      context_.works.push_back(work);
    }
    apply_policies(change_, context_);
  }

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
    for (const DurationEdit& edit : change_.durations) {
      const std::size_t task = index(new_id(edit.task));
      tasks_.duration_ns[task] = edit.duration_ns;
      tasks_.columns.provenance[task] = edit.provenance;
    }
    for (const SegmentEdit& edit : change_.segments) {
      const std::size_t task = index(new_id(edit.task));
      tasks_.segment_ns[task] = edit.segment_ns;
      Provenance& provenance = tasks_.columns.provenance[task];
      provenance = std::max(provenance, edit.provenance);
    }
  }

  void gather_dependencies() {
    slots_ = Slots(placement_.order.size());
    const auto& overflow = graph_.topology().overflow;
    std::size_t row = 0;
    for (std::size_t t = 0; t < graph_.size(); ++t) {
      const TaskId task = make_id<TaskId>(t);
      if (placement_.removed(task)) continue;
      while (row < overflow.size() && overflow[row].task < task) ++row;
      const bool overflows = row < overflow.size() && overflow[row].task == task;
      if (overflows || !copy_slots(task)) gather_dependencies_of(task, row);
    }
    for (Dependency d : change_.new_dependencies) {
      d.task = new_id(d.task);
      d.source = new_point(d.source);
      d.late_after = new_point(d.late_after);
      dependencies_.push_back(d);
    }
  }

  /// Most tasks keep their dependencies and their slots. False if this one does not.
  bool copy_slots(TaskId task) {
    const std::size_t from = index(task);
    const std::array<Point, 3>& sources = graph_.topology().sources[from];
    const std::array<std::uint8_t, 3>& kinds = graph_.topology().kinds[from];
    for (const Point source : sources) {
      if (source != no_point && placement_.removed(task_of(source))) return false;
    }
    if (taken_away_.touches(task) || lag_edits_.touches(task)) return false;
    const std::size_t to = index(new_id(task));
    std::size_t slot = cause_slot;
    for (std::size_t old = cause_slot; old <= extra_slot; ++old) {
      if (sources[old] == no_point || is_symbolic(kinds[old])) continue;
      slots_.sources[to][slot] = new_point(sources[old]);
      slots_.kinds[to][slot] = kinds[old];
      slots_.lag_ns[to][slot - 1] = (*graph_.weights().lag_ns)[from][old - 1];
      ++slot;
    }
    return true;
  }

  void gather_dependencies_of(TaskId task, std::size_t& row) {
    const std::size_t first = dependencies_.size();
    spliced_.clear();
    for_each_explicit(graph_, task, row, [&](Dependency d) {
      if (taken_away_.dependency(task, d.kind, task_of(d.source))) return;
      d.lag_ns = lag_edits_.lag(task, d.kind, d.lag_ns);
      d.late_after = ghosts_.kept_point(d.late_after);
      if (placement_.removed(task_of(d.source))) return splice(d);
      d.task = new_id(task);
      d.source = new_point(d.source);
      d.late_after = new_point(d.late_after);
      dependencies_.push_back(d);
    });
    splice_lane(task);
    add_spliced(new_id(task), first);
  }

  /// What waited for a removed task waits for what that came after.
  void splice(const Dependency& d) {
    for (const Reach& reach : ghosts_.reach(task_of(d.source))) {
      const bool own = d.kind == DependencyKind::launch && !reach.on_lane;
      const DependencyKind kind = own ? reach.kind : d.kind;
      const Point late = d.late_after != no_point ? d.late_after : reach.late_after;
      spliced_.push_back({reach.source, d.task, kind, d.lag_ns + reach.lag_ns, 0.0F, late});
    }
  }

  /// The next task of the lane waits for what a removed one came after, its launch excepted.
  void splice_lane(TaskId task) {
    const Point before = graph_.topology().sources[index(task)][lane_slot];
    if (before == no_point || !placement_.removed(task_of(before))) return;
    if (new_lane(task) != graph_.lane_id(task)) return;
    const std::int64_t segment_ns = is_host(graph_.kind(task)) ? graph_.segment_ns(task) : 0;
    for (const Reach& reach : ghosts_.reach(task_of(before))) {
      if (reach.kind == DependencyKind::launch) continue;
      spliced_.push_back(
          {reach.source, task, reach.kind, reach.lag_ns + segment_ns, 0.0F, reach.late_after});
    }
  }

  /// Adds the spliced dependencies of a task that neither its lane nor another one, from row
  /// `first` on, implies.
  void add_spliced(TaskId task, std::size_t first) {
    for (Dependency& d : spliced_) {
      d.task = task;
      d.source = new_point(d.source);
      d.late_after = new_point(d.late_after);
    }
    const auto lane = [this](const Dependency& d) {
      return tasks_.columns.lane[index(task_of(d.source))];
    };
    const auto implies = [&](const Dependency& a, const Dependency& b) {
      return a.late_after == no_point && a.fraction >= 0 && a.source >= b.source &&
             a.lag_ns >= b.lag_ns && lane(a) == lane(b);
    };
    for (const Dependency& d : spliced_) {
      if (lane(d) == tasks_.columns.lane[index(task)] && task_of(d.source) < task) continue;
      const auto known = [&](const Dependency& other) { return implies(other, d); };
      if (std::any_of(dependencies_.begin() + static_cast<std::ptrdiff_t>(first),
                      dependencies_.end(), known)) {
        continue;
      }
      dependencies_.push_back(d);
    }
  }

  void carry_over_waits() {
    std::size_t kept = 0;
    for (Wait wait : context_.waits) {
      if (taken_away_.wait(wait)) continue;
      wait.lag_ns = lag_edits_.lag(wait.task, wait.kind, wait.lag_ns);
      wait.late_after = new_point(ghosts_.kept_point(wait.late_after));
      const TaskId at = wait.at;
      if (placement_.removed(wait.task)) {
        // A blocking call that is gone blocks nobody; a stream still waits for its event.
        const TaskId heir = heirs_[placement_.ghost[index(wait.task)]].task;
        if (is_host(graph_.kind(wait.task)) || heir == none<TaskId>) continue;
        wait.at = old_position(at);
        wait.task = new_id(heir);
      } else {
        wait.at = at == wait.task ? new_id(at) : old_position(at);
        wait.task = new_id(wait.task);
      }
      context_.waits[kept++] = wait;
    }
    context_.waits.resize(kept);
    for (Wait wait : change_.new_waits) {
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
    return index(at) < graph_.size() ? placement_.position[index(at)] : end_position();
  }

  Result<Committed> build() {
    // Ids are right by now; what is left to check is what the edits add up to.
    const Parts parts{context_, tasks_.columns, tasks_.duration_ns, tasks_.segment_ns,
                      dependencies_};
    if (auto status = check_weights(parts); !status) return std::move(status).error();
    std::vector<TaskId> sorted_id;
    auto graph = order_and_assemble(
        {std::move(context_), std::move(tasks_.columns), std::move(tasks_.duration_ns),
         std::move(tasks_.segment_ns), std::move(slots_), std::move(dependencies_)},
        sorted_id);
    if (!graph) return std::move(graph).error();
    Committed committed;
    committed.graph = std::move(graph).value();
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
  Ghosts ghosts_;
  LagEdits lag_edits_;
  GraphContext context_;
  NewTasks tasks_;
  std::vector<Heir> heirs_;
  std::vector<Run> runs_;
  Slots slots_;
  std::vector<Dependency> dependencies_;  // besides those in slots, in new ids
  std::vector<Dependency> spliced_;       // of the task at hand, in old ids
};

}  // namespace

Result<Committed> commit_structure(const TaskGraph& graph, const Change& change,
                                   std::vector<Fate> fate) {
  auto placement = place(graph, change, std::move(fate));
  if (!placement) return std::move(placement).error();
  return Rebuild(graph, change, std::move(placement).value()).run();
}

}  // namespace foretrace::detail
