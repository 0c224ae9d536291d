// Dependencies of the new graph: kept ones in their slots; spliced, handed over and new ones
// besides.
#include <algorithm>
#include <utility>

#include "sim/graph/commit/commit_parts.h"
#include "sim/graph/links.h"

namespace foretrace::committing {

namespace {

class Linker {
 public:
  explicit Linker(const LinkRules& how) : how_(how) {}

  Links run() {
    links_.slots = Slots(how_.placement.order.size());
    for (std::size_t t = 0; t < how_.graph.size(); ++t) {
      const auto task = make_id<TaskId>(t);
      if (how_.placement.removed(task) || copy_slots(task)) continue;
      const StandIn* group = how_.stand_ins.of(task);
      gather_of(task, group != nullptr && group->entry == task ? group : nullptr);
    }
    for (const StandIn& group : how_.stand_ins.groups()) {
      if (how_.stand_ins.of(group.entry) != &group) gather_of(group.entry, &group);
    }
    for (const Dependency& d : how_.change.new_dependencies) add_new(d);
    return std::move(links_);
  }

 private:
  [[nodiscard]] TaskId new_id(TaskId task) const { return how_.placement.new_id[index(task)]; }
  [[nodiscard]] Point new_point(Point point) const { return how_.placement.new_point(point); }
  [[nodiscard]] LaneId new_lane(TaskId task) const { return how_.lane[index(new_id(task))]; }
  [[nodiscard]] bool removed(TaskId task) const { return how_.placement.removed(task); }
  [[nodiscard]] bool is_member(TaskId task) const { return how_.stand_ins.of(task) != nullptr; }

  /// Most tasks keep their dependencies and their slots. False if this one does not.
  bool copy_slots(TaskId task) {
    const std::size_t from = index(task);
    const Topology& topology = how_.graph.topology();
    const std::array<Point, 3>& sources = topology.sources[from];
    const std::array<std::uint8_t, 3>& kinds = topology.kinds[from];
    for (const Point source : sources) {
      if (source == no_point) continue;
      if (removed(task_of(source)) || is_member(task_of(source))) return false;
    }
    if (is_member(task) || how_.taken_away.touches(task) || how_.lag_edits.touches(task) ||
        !topology.overflow_of(task).empty()) {
      return false;
    }
    const std::size_t to = index(new_id(task));
    std::size_t slot = cause_slot;
    for (std::size_t old = cause_slot; old <= extra_slot; ++old) {
      if (sources[old] == no_point || is_symbolic(kinds[old])) continue;
      links_.slots.sources[to][slot] = new_point(sources[old]);
      links_.slots.kinds[to][slot] = kinds[old];
      links_.slots.lag_ns[to][slot - 1] = (*how_.graph.weights().lag_ns)[from][old - 1];
      ++slot;
    }
    return true;
  }

  /// Its own dependencies, if it is a task of the graph, and those of the group that it is the
  /// entry of.
  void gather_of(TaskId task, const StandIn* group) {
    const std::size_t first = links_.dependencies.size();
    spliced_.clear();
    const bool old = index(task) < how_.graph.size();
    if (old && (group == nullptr || how_.stand_ins.of(task) == group)) {
      for (const Link& link : sources(how_.graph, task)) pass(link, task, true);
      splice_lane(task, task);
    }
    if (group != nullptr) pass_members(*group);
    add_spliced(new_id(task), first, group);
  }

  /// The entry waits for whatever the members waited for; it has a launch of its own.
  void pass_members(const StandIn& group) {
    for (const std::vector<TaskId>* tasks : {&group.members, &group.between}) {
      for (const TaskId task : *tasks) {
        if (task == group.entry) continue;
        const bool launched = is_stream_like(how_.graph.lane(task).kind);
        for (const Link& link : sources(how_.graph, task)) {
          const bool own = how_.stand_ins.of(task_of(link.source)) == &group;
          if (own || (launched && link.kind == DependencyKind::launch)) continue;
          pass(link, group.entry, tasks == &group.members);
        }
        if (how_.stand_ins.of(task) == &group) splice_lane(task, group.entry);
      }
    }
  }

  /// A link of the old graph becomes one of `to`: its own task, or what stands in for that. Whether
  /// the rule behind a resolved wait goes there, too.
  void pass(const Link& link, TaskId to, bool has_rule) {
    if (link.on_lane() || link.kind == DependencyKind::queue) return;
    const TaskId source = task_of(link.source);
    if (how_.taken_away.dependency(link.task, link.kind, link.symbolic ? none<TaskId> : source)) {
      return;
    }
    Dependency d = link.dependency();
    d.task = to;
    d.lag_ns = how_.lag_edits.lag(link.task, link.kind, link.lag_ns);
    d.late_after = how_.ghosts.condition(d.late_after, to);
    const StandIn* group = how_.stand_ins.of(source);
    if (group != nullptr) {
      if (how_.stand_ins.of(link.task) == group) return;
      d = how_.stand_ins.hand_over(d);
      if (has_rule && how_.sight.finds(link, task_of(d.source), new_id(to))) return;
      // A launch is who enqueues the work, besides when.
      if (d.kind != DependencyKind::launch) return spliced_.push_back({d, false});
    } else if (removed(source)) {
      return splice(d, has_rule ? &link : nullptr);
    } else if (has_rule &&
               ((link.symbolic && to == link.task) || how_.sight.finds(link, source, new_id(to)))) {
      return;
    }
    push(d);
  }

  void push(Dependency d) {
    renumber(d, new_id(d.task));
    links_.dependencies.push_back(d);
  }

  void renumber(Dependency& d, TaskId task) const {
    d.task = task;
    d.source = new_point(d.source);
    d.late_after = new_point(d.late_after);
  }

  /// What waited for a removed task waits for what that came after. `by` is the link of the old
  /// graph: a rule behind it looks past the task by itself, but not at what that waited for.
  void splice(const Dependency& d, const Link* by) {
    const bool symbolic = by != nullptr && by->symbolic;
    for (const Reach& reach : how_.ghosts.reach(task_of(d.source))) {
      if (symbolic && (reach.kind == DependencyKind::launch ||
                       how_.sight.finds(*by, task_of(reach.source), new_id(d.task)))) {
        continue;
      }
      const bool own = d.kind == DependencyKind::launch && !reach.on_lane;
      const DependencyKind kind = own ? reach.kind : d.kind;
      const Point late = d.late_after != no_point ? d.late_after : reach.late_after;
      spliced_.push_back(
          {{reach.source, d.task, kind, d.lag_ns + reach.lag_ns, 0.0F, late}, reach.on_lane});
    }
  }

  /// The next task of the lane, or what stands in for it, waits for what a removed one came after,
  /// its launch excepted.
  void splice_lane(TaskId task, TaskId to) {
    const TaskId before = previous_on_lane(how_.graph, task);
    if (before == none<TaskId> || !removed(before)) return;
    if (new_lane(to) != how_.graph.lane_id(task)) return;
    // A stand-in on the lane before it has what its members came after.
    const StandIn* group = how_.stand_ins.of(before);
    if (group != nullptr &&
        (how_.stand_ins.of(task) == group || new_id(group->exit) < new_id(to))) {
      return;
    }
    const std::int64_t segment_ns =
        is_host(how_.graph.kind(task)) && to == task ? how_.graph.segment_ns(task) : 0;
    for (const Reach& reach : how_.ghosts.reach(before)) {
      // A stand-in has a place of its own on the lane.
      if (to != task && reach.on_lane) continue;
      if (reach.kind == DependencyKind::launch || reach.by_rule) continue;
      spliced_.push_back(
          {{reach.source, to, reach.kind, reach.lag_ns + segment_ns, 0.0F, reach.late_after},
           reach.on_lane});
    }
  }

  /// Adds the spliced dependencies of a task (the entry of a group, if there is one) that neither
  /// its lane nor another one, from row `first` on, implies.
  void add_spliced(TaskId task, std::size_t first, const StandIn* group) {
    const TaskId exit = group != nullptr ? new_id(group->exit) : task;
    for (Spliced& spliced : spliced_) {
      Dependency& d = spliced.dependency;
      renumber(d, task);
      // A condition on what comes later now: it always holds.
      if (d.late_after != no_point && task_of(d.late_after) >= task) d.late_after = no_point;
    }
    const auto lane = [this](const Dependency& d) { return how_.lane[index(task_of(d.source))]; };
    const auto implies = [&](const Dependency& a, const Dependency& b) {
      return a.late_after == no_point && a.fraction >= 0 && a.source >= b.source &&
             a.lag_ns >= b.lag_ns && lane(a) == lane(b);
    };
    for (const auto& [spliced, on_lane] : spliced_) {
      const Dependency& d = spliced;
      // A group comes before what was removed from between its members.
      if (task_of(d.source) == task || task_of(d.source) == exit) continue;
      // The lane says it already, and host time passes on along the lane.
      const bool ordered = lane(d) == how_.lane[index(task)] && task_of(d.source) < task;
      if (ordered && (on_lane || d.lag_ns <= 0)) continue;
      const auto known = [&](const Dependency& other) { return implies(other, d); };
      if (std::any_of(links_.dependencies.begin() + static_cast<std::ptrdiff_t>(first),
                      links_.dependencies.end(), known)) {
        continue;
      }
      links_.dependencies.push_back(d);
    }
  }

  /// What an edit says of a task that is replaced holds for what stands in for it.
  void add_new(Dependency d) {
    const std::size_t first = links_.dependencies.size();
    spliced_.clear();
    const StandIn* group = how_.stand_ins.of(d.task);
    if (group != nullptr) d.task = group->entry;
    d.late_after = how_.ghosts.condition(d.late_after, d.task);
    d = how_.stand_ins.hand_over(d);
    if (!removed(task_of(d.source))) return push(d);
    splice(d, nullptr);
    add_spliced(new_id(d.task), first, group);
  }

  const LinkRules& how_;
  Links links_;
  struct Spliced {
    Dependency dependency;
    bool on_lane = false;  ///< what lies in between is time of the lane
  };
  std::vector<Spliced> spliced_;  // of the task at hand, in old ids
};

}  // namespace

Links carry_over_links(const LinkRules& how) { return Linker(how).run(); }

}  // namespace foretrace::committing
