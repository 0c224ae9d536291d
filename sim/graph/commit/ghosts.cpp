// What removed tasks leave behind: the points they came after, and heirs on their lanes.
#include <algorithm>

#include "sim/graph/commit/commit_parts.h"
#include "sim/graph/commit/draft.h"
#include "sim/graph/links.h"

namespace foretrace::committing {

namespace {

/// More sources than this are possible only where very much is removed; the oldest ones go.
constexpr std::size_t most_reaches = 32;

/// True if the time behind a dependency passes whether or not the task is there: a hand-over takes
/// as long, a launch latency does not.
bool lag_stays(DependencyKind kind) {
  switch (kind) {
    case DependencyKind::program_order:
    case DependencyKind::hand_over:
    case DependencyKind::data:
    case DependencyKind::memory:
    case DependencyKind::rendezvous:
    case DependencyKind::boundary:
    case DependencyKind::control: return true;
    case DependencyKind::none:
    case DependencyKind::stream_order:
    case DependencyKind::launch:
    case DependencyKind::event_wait:
    case DependencyKind::synchronization:
    case DependencyKind::queue:
    case DependencyKind::capacity: return false;
  }
  return false;
}

}  // namespace

Ghosts::Ghosts(const Of& of) : of_(of) {
  if (!of_.placement.any_removed()) return;
  for (std::size_t t = 0; t < of_.graph.size(); ++t) {
    const auto task = make_id<TaskId>(t);
    if (!of_.placement.removed(task)) continue;
    ghosts_.emplace_back();
    collected_.clear();
    add_lane(task);
    if (of_.stand_ins.of(task) == nullptr) add_sources(task);
    Ghost& ghost = ghosts_.back();
    ghost.first = static_cast<std::uint32_t>(reaches_.size());
    reaches_.insert(reaches_.end(), collected_.begin(), collected_.end());
    ghost.last = static_cast<std::uint32_t>(reaches_.size());
  }
}

void Ghosts::add_lane(TaskId task) {
  const TaskGraph& graph = of_.graph;
  const TaskId previous = previous_on_lane(graph, task);
  if (previous == none<TaskId>) return;
  const bool stays = is_host(graph.kind(task)) && of_.placement.fate[index(task)] == Fate::removed;
  const std::int64_t segment_ns = stays ? graph.segment_ns(task) : 0;
  const DependencyKind kind = kind_of(graph.topology().kinds[index(task)][lane_slot]);
  Ghost& ghost = ghosts_.back();
  if (!of_.placement.removed(previous)) {
    ghost.kept_before = previous;
    return add({end_of(previous), no_point, segment_ns, kind, true});
  }
  const StandIn* group = of_.stand_ins.of(previous);
  const bool replaced =
      group != nullptr && lane_of(end_of(group->exit)) == graph.lane_id(task) &&
      of_.placement.new_id[index(group->exit)] < of_.placement.position[index(task)];
  if (replaced) {
    ghost.kept_before = group->exit;
    return add({end_of(group->exit), no_point, segment_ns, kind, true});
  }
  ghost.kept_before = kept_before(previous);
  for (Reach reach : this->reach(previous)) {
    // A stream does not wait for the launch of an operation that it no longer has.
    if (reach.kind == DependencyKind::launch) continue;
    reach.lag_ns += segment_ns;
    add(reach);
  }
}

void Ghosts::add_sources(TaskId task) {
  const TaskGraph& graph = of_.graph;
  const bool stays = of_.placement.fate[index(task)] == Fate::removed;
  for (const Link& d : sources(graph, task)) {
    if (d.on_lane() || d.kind == DependencyKind::queue) continue;
    const TaskId source = task_of(d.source);
    if (of_.taken_away.dependency(task, d.kind, d.symbolic ? none<TaskId> : source)) continue;
    // A blocking call that is gone blocks nobody.
    if (d.kind == DependencyKind::synchronization && is_host(graph.kind(task))) continue;
    // A negative lag stays in any case: without the task nothing may come later than with it.
    const bool keeps_lag = d.lag_ns < 0 || (stays && lag_stays(d.kind));
    const std::int64_t lag_ns = keeps_lag ? d.lag_ns : 0;
    // The rule behind it goes on with the next task of the stream.
    const auto by_rule = [&](Point found) {
      return is_device(graph.kind(task)) &&
             of_.sight.finds(d, task_of(found), of_.placement.position[index(task)]);
    };
    const Point late_after = kept_point(d.late_after);
    if (of_.stand_ins.of(source) != nullptr || !of_.placement.removed(source)) {
      const Point now = of_.stand_ins.point(d.source);
      add({now, late_after, lag_ns, d.kind, false, by_rule(now)});
      continue;
    }
    for (Reach reach : this->reach(source)) {
      if (reach.late_after == no_point) reach.late_after = late_after;
      reach.lag_ns += lag_ns;
      reach.kind = d.kind;
      reach.by_rule = by_rule(reach.source);
      reach.on_lane = false;
      add(reach);
    }
  }
}

LaneId Ghosts::lane_of(Point point) const {
  return of_.lane[index(of_.placement.new_id[index(task_of(point))])];
}

void Ghosts::add(Reach reach) {
  const auto place = [this](const Reach& r) { return of_.placement.new_point(r.source); };
  // A launch is not passed on to everybody, nor is what a rule says.
  const auto launch = [](const Reach& r) { return r.kind == DependencyKind::launch; };
  const auto implies = [&](const Reach& a, const Reach& b) {
    if (launch(a) && !launch(b)) return false;
    return a.late_after == no_point && place(a) >= place(b) && a.lag_ns >= b.lag_ns &&
           (!a.by_rule || b.by_rule) && lane_of(a.source) == lane_of(b.source);
  };
  for (const Reach& other : collected_) {
    if (implies(other, reach)) return;
  }
  collected_.erase(std::remove_if(collected_.begin(), collected_.end(),
                                  [&](const Reach& other) { return implies(reach, other); }),
                   collected_.end());
  if (collected_.size() == most_reaches) {
    collected_.erase(
        std::min_element(collected_.begin(), collected_.end(),
                         [&](const Reach& a, const Reach& b) { return place(a) < place(b); }));
  }
  collected_.push_back(reach);
}

std::span<const Reach> Ghosts::reach(TaskId removed) const {
  const Ghost& ghost = at(removed);
  return {reaches_.data() + ghost.first, reaches_.data() + ghost.last};
}

Point Ghosts::kept_point(Point point) const {
  point = of_.stand_ins.point(point);
  if (point == no_point || !of_.placement.removed(task_of(point))) return point;
  const TaskId before = kept_before(task_of(point));
  return before == none<TaskId> ? no_point : end_of(before);
}

Point Ghosts::condition(Point point, TaskId task) const {
  if (point == no_point) return point;
  const Point now = kept_point(point);
  const bool replaced = of_.stand_ins.of(task_of(point)) != nullptr ||
                        index(task) >= of_.graph.size() || of_.stand_ins.of(task) != nullptr;
  if (now == no_point || !replaced) return now;
  const std::vector<TaskId>& new_id = of_.placement.new_id;
  return new_id[index(task_of(now))] < new_id[index(task)] ? now : no_point;
}

std::vector<Heir> hand_down(const TaskGraph& graph, const Placement& placement,
                            const std::vector<Lane>& lanes, NewTasks& tasks) {
  std::vector<Heir> heirs;
  if (!placement.any_removed()) return heirs;
  heirs.resize(placement.sequence.size() - placement.order.size());
  const auto heir_of = [&](TaskId task) -> Heir& { return heirs[placement.ghost[index(task)]]; };
  struct OnLane {
    TaskId last = none<TaskId>;     ///< last kept task
    TaskId pending = none<TaskId>;  ///< last removed task without an heir; chained by Heir::task
    std::int64_t carried_ns = 0;
  };
  std::vector<OnLane> state(lanes.size());
  for (const TaskId task : placement.sequence) {
    if (placement.removed(task)) {
      OnLane& lane = state[index(graph.lane_id(task))];
      // The gap before a device operation goes with it, unless it is the time of the first one.
      const bool inherits = placement.fate[index(task)] == Fate::removed &&
                            (is_host(graph.kind(task)) || lane.last == none<TaskId>);
      if (inherits) lane.carried_ns += graph.segment_ns(task);
      heir_of(task) = {lane.pending, lane.last, lane.carried_ns};
      lane.pending = task;
      continue;
    }
    const std::size_t id = index(placement.new_id[index(task)]);
    OnLane& lane = state[index(tasks.columns.lane[id])];
    tasks.segment_ns[id] += lane.carried_ns;
    while (lane.pending != none<TaskId>) {
      Heir& heir = heir_of(lane.pending);
      lane.pending = heir.task;
      heir.task = task;
      heir.later_ns = tasks.segment_ns[id] - heir.later_ns;
    }
    lane.carried_ns = 0;
    lane.last = task;
  }
  for (OnLane& lane : state) {
    while (lane.pending != none<TaskId>) {
      Heir& heir = heir_of(lane.pending);
      lane.pending = heir.task;
      heir.task = none<TaskId>;
      heir.later_ns = 0;
    }
  }
  return heirs;
}

}  // namespace foretrace::committing
