// Dependencies of the new graph: kept ones in their slots, spliced and new ones besides.
#include <algorithm>
#include <utility>

#include "sim/graph/commit/commit_detail.h"

namespace foretrace::detail {

namespace {

class Linker {
 public:
  Linker(const LinkRules& how, const std::vector<LaneId>& lane) : how_(how), lane_(lane) {}

  Links run() {
    gather();
    return std::move(links_);
  }

 private:
  [[nodiscard]] TaskId new_id(TaskId task) const { return how_.placement.new_id[index(task)]; }
  [[nodiscard]] Point new_point(Point point) const { return how_.placement.new_point(point); }
  [[nodiscard]] LaneId new_lane(TaskId task) const { return lane_[index(new_id(task))]; }

  void gather() {
    links_.slots = Slots(how_.placement.order.size());
    const auto& overflow = how_.graph.topology().overflow;
    std::size_t row = 0;
    for (std::size_t t = 0; t < how_.graph.size(); ++t) {
      const auto task = make_id<TaskId>(t);
      if (how_.placement.removed(task)) continue;
      while (row < overflow.size() && overflow[row].task < task) ++row;
      const bool overflows = row < overflow.size() && overflow[row].task == task;
      if (overflows || !copy_slots(task)) gather_of(task, row);
    }
    for (Dependency d : how_.change.new_dependencies) {
      d.task = new_id(d.task);
      d.source = new_point(d.source);
      d.late_after = new_point(d.late_after);
      links_.dependencies.push_back(d);
    }
  }

  /// Most tasks keep their dependencies and their slots. False if this one does not.
  bool copy_slots(TaskId task) {
    const std::size_t from = index(task);
    const std::array<Point, 3>& sources = how_.graph.topology().sources[from];
    const std::array<std::uint8_t, 3>& kinds = how_.graph.topology().kinds[from];
    for (const Point source : sources) {
      if (source != no_point && how_.placement.removed(task_of(source))) return false;
    }
    if (how_.taken_away.touches(task) || how_.lag_edits.touches(task)) return false;
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

  void gather_of(TaskId task, std::size_t& row) {
    const std::size_t first = links_.dependencies.size();
    spliced_.clear();
    for_each_explicit(how_.graph, task, row, [&](Dependency d) {
      if (how_.taken_away.dependency(task, d.kind, task_of(d.source))) return;
      d.lag_ns = how_.lag_edits.lag(task, d.kind, d.lag_ns);
      d.late_after = how_.ghosts.kept_point(d.late_after);
      if (how_.placement.removed(task_of(d.source))) return splice(d);
      d.task = new_id(task);
      d.source = new_point(d.source);
      d.late_after = new_point(d.late_after);
      links_.dependencies.push_back(d);
    });
    splice_lane(task);
    add_spliced(new_id(task), first);
  }

  /// What waited for a removed task waits for what that came after.
  void splice(const Dependency& d) {
    for (const Reach& reach : how_.ghosts.reach(task_of(d.source))) {
      const bool own = d.kind == DependencyKind::launch && !reach.on_lane;
      const DependencyKind kind = own ? reach.kind : d.kind;
      const Point late = d.late_after != no_point ? d.late_after : reach.late_after;
      spliced_.push_back({reach.source, d.task, kind, d.lag_ns + reach.lag_ns, 0.0F, late});
    }
  }

  /// The next task of the lane waits for what a removed one came after, its launch excepted.
  void splice_lane(TaskId task) {
    const Point before = how_.graph.topology().sources[index(task)][lane_slot];
    if (before == no_point || !how_.placement.removed(task_of(before))) return;
    if (new_lane(task) != how_.graph.lane_id(task)) return;
    const std::int64_t segment_ns =
        is_host(how_.graph.kind(task)) ? how_.graph.segment_ns(task) : 0;
    for (const Reach& reach : how_.ghosts.reach(task_of(before))) {
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
    const auto lane = [this](const Dependency& d) { return lane_[index(task_of(d.source))]; };
    const auto implies = [&](const Dependency& a, const Dependency& b) {
      return a.late_after == no_point && a.fraction >= 0 && a.source >= b.source &&
             a.lag_ns >= b.lag_ns && lane(a) == lane(b);
    };
    for (const Dependency& d : spliced_) {
      if (lane(d) == lane_[index(task)] && task_of(d.source) < task) continue;
      const auto known = [&](const Dependency& other) { return implies(other, d); };
      if (std::any_of(links_.dependencies.begin() + static_cast<std::ptrdiff_t>(first),
                      links_.dependencies.end(), known)) {
        continue;
      }
      links_.dependencies.push_back(d);
    }
  }

  const LinkRules& how_;
  const std::vector<LaneId>& lane_;  // per new id
  Links links_;
  std::vector<Dependency> spliced_;  // of the task at hand, in old ids
};

}  // namespace

Links carry_over_links(const LinkRules& how, const std::vector<LaneId>& lane) {
  return Linker(how, lane).run();
}

}  // namespace foretrace::detail
