// Hands dependencies over to stand-ins.
#include "sim/edit/rewire.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace foretrace::transform {

namespace {

/// Calls visit(dependency) for each explicit overflow dependency of a task.
template <typename Visit>
void for_each_overflow(const TaskGraph& graph, TaskId task, const Visit& visit) {
  const auto& rows = graph.topology().overflow;
  auto row = std::lower_bound(
      rows.begin(), rows.end(), task,
      [](const OverflowDependency& left, TaskId right) { return left.task < right; });
  for (; row != rows.end() && row->task == task; ++row) {
    if (row->symbolic) continue;
    const auto at = static_cast<std::size_t>(row - rows.begin());
    visit(Dependency{row->source, task, row->kind, (*graph.weights().overflow_lag_ns)[at],
                     row->fraction, row->late_after});
  }
}

/// The explicit dependency in a slot; its source is no_point if there is none.
Dependency in_slot(const TaskGraph& graph, TaskId task, std::size_t slot) {
  const Topology& topology = graph.topology();
  Dependency d;
  if (is_symbolic(topology.kinds[index(task)][slot])) return d;
  d.source = topology.sources[index(task)][slot];
  d.task = task;
  d.kind = kind_of(topology.kinds[index(task)][slot]);
  d.lag_ns = (*graph.weights().lag_ns)[index(task)][slot - 1];
  return d;
}

constexpr std::uint32_t no_group = 0xFFFFFFFFU;

class Rewiring {
 public:
  Rewiring(Change& change, const TaskGraph& graph, std::span<const StandIn> groups,
           std::span<const TaskId> going)
      : change_(change),
        graph_(graph),
        groups_(groups),
        going_(graph.size(), false),
        group_(graph.size(), no_group),
        before_ns_(graph.size(), 0) {
    for (const TaskId task : going) going_[index(task)] = true;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      std::int64_t before_ns = 0;
      for (const TaskId member : groups[g].members) {
        group_[index(member)] = static_cast<std::uint32_t>(g);
        before_ns_[index(member)] = before_ns;
        before_ns += graph.duration_ns(member);
      }
    }
  }

  void begin_group() {
    first_of_group_ = static_cast<std::ptrdiff_t>(change_.new_dependencies.size());
  }

  void enter(TaskId member, const Relations& relations) {
    const bool goes = going_[index(member)];
    const StandIn& group = group_of(member);
    std::vector<DependencyKind> kinds;
    for (const Dependency& d : incoming(graph_, member)) {
      const TaskId source = task_of(d.source);
      if (!goes && !handed_over(source)) continue;
      kinds.push_back(d.kind);
      if (!goes) change_.removed_dependencies.push_back({member, d.kind, source});
      const bool inside = group_[index(source)] == group_[index(member)];
      // New device work has a call of its own.
      const bool lost =
          going_[index(source)] && (!handed_over(source) || d.kind == DependencyKind::launch);
      if (inside || lost || (group.exit == none<TaskId> && blocks(d.kind))) continue;
      connect(d, group.entry);
    }
    if (!goes) return;
    for (const std::uint32_t row : relations.waits_of(member)) {
      Wait wait = graph_.context().waits[row];
      kinds.push_back(wait.kind);
      if (group.exit == none<TaskId> && blocks(wait.kind)) continue;
      wait.task = group.entry;
      wait.late_after = stand_in_for(wait.late_after);
      change_.new_waits.push_back(wait);
    }
    // The group has them now; they are not to be passed on to the next task of the lane.
    std::sort(kinds.begin(), kinds.end());
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    for (const DependencyKind kind : kinds) {
      change_.removed_dependencies.push_back({member, kind, none<TaskId>});
    }
  }

  void leave(TaskId member) {
    if (group_of(member).exit == none<TaskId>) return;
    const std::vector<Dependency> dependencies = outgoing(graph_, member);
    const auto changes = [&](const Dependency& d) {
      return going_[index(member)] || member != group_of(member).exit || !is_end(d.source);
    };
    if (std::none_of(dependencies.begin(), dependencies.end(), changes)) return;
    for (const Dependency& d : dependencies) {
      // Targets in groups are dealt with when those tasks enter.
      if (group_[index(d.task)] != no_group || going_[index(d.task)]) continue;
      change_.removed_dependencies.push_back({d.task, d.kind, member});
      connect(d, d.task);
    }
  }

 private:
  [[nodiscard]] const StandIn& group_of(TaskId member) const {
    return groups_[group_[index(member)]];
  }

  [[nodiscard]] bool handed_over(TaskId source) const {
    return group_[index(source)] != no_group && group_of(source).exit != none<TaskId>;
  }
  static bool blocks(DependencyKind kind) { return kind == DependencyKind::synchronization; }

  /// True if the task waits for this already.
  [[nodiscard]] bool known(const Dependency& wanted) const {
    const auto same = [&wanted](const Dependency& d) {
      return d.task == wanted.task && d.source == wanted.source && d.kind == wanted.kind &&
             d.lag_ns >= wanted.lag_ns && d.fraction >= wanted.fraction && d.late_after == no_point;
    };
    const auto& added = change_.new_dependencies;
    if (std::any_of(added.begin() + first_of_group_, added.end(), same)) return true;
    const bool inserted =
        index(wanted.task) >= graph_.size() || index(task_of(wanted.source)) >= graph_.size();
    if (inserted || handed_over(task_of(wanted.source))) return false;
    const std::vector<Dependency> present = incoming(graph_, wanted.task);
    return std::any_of(present.begin(), present.end(), same);
  }

  /// Adds a dependency of `task`, with its source handed over if that is a member.
  void connect(Dependency d, TaskId task) {
    d.task = task;
    d.late_after = stand_in_for(d.late_after);
    const TaskId source = task_of(d.source);
    if (handed_over(source)) {
      if (is_end(d.source)) {
        d.source = end_of(group_of(source).exit);
      } else {
        d.source = start_of(group_of(source).entry);
        d.lag_ns += before_ns_[index(source)] +
                    std::llround(static_cast<double>(d.fraction) *
                                 static_cast<double>(graph_.duration_ns(source)));
        d.fraction = 0.0F;
      }
    }
    if (!known(d)) change_.new_dependencies.push_back(d);
  }

  /// A point that a condition speaks of: the end of the group, or no condition at all.
  [[nodiscard]] Point stand_in_for(Point point) const {
    if (point == no_point || !going_[index(task_of(point))]) return point;
    return handed_over(task_of(point)) ? end_of(group_of(task_of(point)).exit) : no_point;
  }

  Change& change_;
  const TaskGraph& graph_;
  std::span<const StandIn> groups_;
  std::ptrdiff_t first_of_group_ = 0;  // in Change::new_dependencies
  std::vector<bool> going_;
  std::vector<std::uint32_t> group_;
  std::vector<std::int64_t> before_ns_;  // durations of the members before a member
};

}  // namespace

std::vector<Dependency> incoming(const TaskGraph& graph, TaskId task) {
  std::vector<Dependency> result;
  for (std::size_t slot = cause_slot; slot <= extra_slot; ++slot) {
    const Dependency d = in_slot(graph, task, slot);
    if (d.source != no_point) result.push_back(d);
  }
  for_each_overflow(graph, task, [&result](const Dependency& d) { result.push_back(d); });
  return result;
}

std::vector<Dependency> outgoing(const TaskGraph& graph, TaskId task) {
  const Topology& topology = graph.topology();
  const std::size_t t = index(task);
  std::vector<Dependency> result;
  std::uint32_t last = 0xFFFFFFFFU;
  for (std::uint32_t i = topology.forward_offsets[t]; i < topology.forward_offsets[t + 1]; ++i) {
    const std::uint32_t entry = topology.forward[i];
    // Several overflow dependencies of one task stand side by side.
    if ((entry & 3U) == lane_slot || entry == last) continue;
    last = entry;
    const auto successor = make_id<TaskId>(entry >> 2U);
    if ((entry & 3U) != overflow_slot) {
      const Dependency d = in_slot(graph, successor, entry & 3U);
      if (d.source != no_point) result.push_back(d);
      continue;
    }
    for_each_overflow(graph, successor, [&](const Dependency& d) {
      if (task_of(d.source) == task) result.push_back(d);
    });
  }
  return result;
}

void rewire(Change& change, const TaskGraph& graph, const Relations& relations,
            std::span<const StandIn> groups, std::span<const TaskId> going) {
  Rewiring rewiring(change, graph, groups, going);
  for (const StandIn& group : groups) {
    rewiring.begin_group();
    for (const TaskId member : group.members) {
      rewiring.enter(member, relations);
      rewiring.leave(member);
    }
  }
}

}  // namespace foretrace::transform
