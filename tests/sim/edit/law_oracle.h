// Both laws of edits by brute force, from the two topologies and nothing else: who waited for whom
// before, and whether that still holds, on paths and in time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/pull/pull.h"
#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"

namespace foretrace::test {

/// One row of a topology, decoded by hand.
struct Edge {
  Point source = no_point;
  DependencyKind kind = DependencyKind::none;
  bool lane = false;
  bool symbolic = false;
  bool sure = true;  ///< not only "if late", and with no negative lag
};

inline std::vector<std::vector<Edge>> edges_of(const TaskGraph& graph) {
  const Topology& topology = graph.topology();
  std::vector<std::vector<Edge>> edges(graph.size());
  for (std::size_t t = 0; t < graph.size(); ++t) {
    for (std::size_t slot = 0; slot < 3; ++slot) {
      if (topology.sources[t][slot] == no_point) continue;
      const std::uint8_t stored = topology.kinds[t][slot];
      const std::int64_t lag =
          slot == 0 ? graph.segment_ns(make_id<TaskId>(t)) : (*graph.weights().lag_ns)[t][slot - 1];
      edges[t].push_back({topology.sources[t][slot], static_cast<DependencyKind>(stored & 0x7FU),
                          slot == 0, (stored & 0x80U) != 0, lag >= 0});
    }
  }
  for (std::size_t row = 0; row < topology.overflow.size(); ++row) {
    const OverflowDependency& d = topology.overflow[row];
    const bool sure = d.late_after == no_point && (*graph.weights().overflow_lag_ns)[row] >= 0;
    edges[index(d.task)].push_back({d.source, d.kind, false, d.symbolic, sure});
  }
  return edges;
}

/// Per task the points that come before its start on some path; as rows of bits.
class Closure {
 public:
  explicit Closure(const TaskGraph& graph)
      : words_((2 * graph.size() + 63) / 64), bits_(graph.size() * words_, 0) {
    const auto edges = edges_of(graph);
    for (std::size_t t = 0; t < graph.size(); ++t) {
      for (const Edge& edge : edges[t]) {
        const std::size_t source = index(task_of(edge.source));
        for (std::size_t w = 0; w < words_; ++w)
          bits_[t * words_ + w] |= bits_[source * words_ + w];
        set(t, 2 * source);
        if (is_end(edge.source)) set(t, 2 * source + 1);
      }
    }
  }
  [[nodiscard]] bool has(TaskId task, Point before) const {
    const std::size_t bit = index(before);
    return ((bits_[index(task) * words_ + bit / 64] >> (bit % 64)) & 1U) != 0;
  }

 private:
  void set(std::size_t task, std::size_t bit) {
    bits_[task * words_ + bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

/// How often the oracle looked at what an edit could have broken: where work stands for others, or
/// something between two tasks is gone.
struct Examined {
  std::size_t into_groups = 0;    ///< a replaced task waited for somebody
  std::size_t out_of_groups = 0;  ///< somebody waited for a replaced task
  std::size_t through_removed = 0;
  std::size_t recorded_waits = 0;  ///< of these: events whose recording is known
  std::size_t inferred_waits = 0;  ///< rules about a stream
  std::size_t hand_overs = 0;
  std::size_t meetings = 0;      ///< of a collective's ranks
  std::size_t across_ranks = 0;  ///< also paths from one rank to another or its channel
  std::size_t stream_places = 0;

  Examined& operator+=(const Examined& other) {
    into_groups += other.into_groups;
    out_of_groups += other.out_of_groups;
    through_removed += other.through_removed;
    recorded_waits += other.recorded_waits;
    inferred_waits += other.inferred_waits;
    hand_overs += other.hand_overs;
    meetings += other.meetings;
    across_ranks += other.across_ranks;
    stream_places += other.stream_places;
    return *this;
  }
};

/// What a change of one graph into another did to "who waits for whom".
class LawOracle {
 public:
  LawOracle(const TaskGraph& before, const Change& change, const Committed& after)
      : before_(before),
        after_(after),
        edges_(edges_of(before)),
        group_(before.size(), nullptr),
        removed_(before.size(), false) {
    for (const DependencyRemoval& taken : change.removed_dependencies) {
      if (taken.kind == DependencyKind::capacity) taken_.emplace_back(taken.task, taken.source);
    }
    std::sort(taken_.begin(), taken_.end());
    for (const Removal& removal : change.removed) removed_[index(removal.task)] = true;
    for (const StandIn& group : change.stand_ins) {
      for (const TaskId member : group.members) group_[index(member)] = &group;
    }
  }

  /// What the last question looked at.
  [[nodiscard]] const Examined& examined() const { return examined_; }

  /// The first law that is broken, as text; empty if both hold. Paths cost the square of the graph.
  [[nodiscard]] std::string broken_path() const {
    const Closure closure(after_.graph);
    return first_broken(
        [&](const Edge&, Point source, TaskId task) { return closure.has(task, source); });
  }
  /// The same on the simulated times, for what waits without a condition.
  [[nodiscard]] std::string broken_time() const {
    const Timeline timeline = simulate(after_.graph);
    return first_broken([&](const Edge& edge, Point source, TaskId task) {
      return !edge.sure || timeline.start_ns(task) >= timeline.points[index(source)];
    });
  }

 private:
  [[nodiscard]] bool lost(TaskId task) const {
    return removed_[index(task)] && group_[index(task)] == nullptr;
  }
  [[nodiscard]] TaskId new_id(TaskId task) const {
    return after_.new_id.empty() ? task : after_.new_id[index(task)];
  }
  [[nodiscard]] Point image(Point point) const {
    const StandIn* group = group_[index(task_of(point))];
    if (group == nullptr) {
      const TaskId task = new_id(task_of(point));
      return is_end(point) ? end_of(task) : start_of(task);
    }
    return is_end(point) ? end_of(new_id(group->exit)) : start_of(new_id(group->entry));
  }

  /// Orders that are made anew for new work, or were meant to go.
  [[nodiscard]] bool is_kept(const Edge& edge, TaskId task) const {
    if (edge.kind == DependencyKind::launch || edge.kind == DependencyKind::queue) return false;
    // That a shared device did one before the other is timing, which a what-if may say is gone.
    if (edge.kind == DependencyKind::capacity &&
        std::binary_search(taken_.begin(), taken_.end(), std::pair(task, task_of(edge.source)))) {
      return false;
    }
    return !(lost(task) && edge.kind == DependencyKind::synchronization &&
             is_host(before_.kind(task)));
  }

  void count(const Edge& edge, TaskId at, TaskId task) const {
    const TaskId source = task_of(edge.source);
    const bool into = group_[index(task)] != nullptr;
    const bool out_of = group_[index(source)] != nullptr;
    if (!into && !out_of && at == task) return;
    examined_.into_groups += into ? 1 : 0;
    examined_.out_of_groups += out_of ? 1 : 0;
    examined_.through_removed += at == task ? 0 : 1;
    const bool event = edge.kind == DependencyKind::event_wait;
    examined_.recorded_waits += event && !edge.symbolic ? 1 : 0;
    examined_.inferred_waits += edge.symbolic ? 1 : 0;
    examined_.hand_overs += edge.kind == DependencyKind::hand_over ? 1 : 0;
    examined_.meetings += edge.kind == DependencyKind::rendezvous ? 1 : 0;
    examined_.across_ranks += before_.lane(source).rank != before_.lane(task).rank ? 1 : 0;
  }

  template <typename Holds>
  [[nodiscard]] std::string first_broken(const Holds& holds) const {
    examined_ = {};
    std::vector<std::size_t> seen(before_.size(), 0);  // 1 + the task it was looked at for
    for (std::size_t t = 0; t < before_.size(); ++t) {
      const auto task = make_id<TaskId>(t);
      if (lost(task)) continue;
      const StandIn* group = group_[t];
      const TaskId place = group == nullptr ? new_id(task) : new_id(group->entry);
      std::vector<TaskId> open{task};
      while (!open.empty()) {
        const TaskId at = open.back();
        open.pop_back();
        for (const Edge& edge : edges_[index(at)]) {
          const TaskId source = task_of(edge.source);
          if (lost(source) && (edge.lane || is_kept(edge, at))) {
            if (seen[index(source)] != t + 1) open.push_back(source);
            seen[index(source)] = t + 1;
          } else if (!edge.lane && is_kept(edge, at) &&
                     (group == nullptr || group_[index(source)] != group) && !lost(source)) {
            count(edge, at, task);
            if (holds(edge, image(edge.source), place)) continue;
            return "task " + std::to_string(t) + " waited for task " +
                   std::to_string(index(source)) + (at == task ? "" : " through a removed one");
          }
        }
      }
    }
    return stream_broken(holds);
  }

  /// Work that stays keeps its place on the stream: before a group, or behind it.
  template <typename Holds>
  [[nodiscard]] std::string stream_broken(const Holds& holds) const {
    std::vector<const StandIn*> open(before_.context().lanes.size(), nullptr);
    std::vector<TaskId> last(before_.context().lanes.size(), none<TaskId>);
    // Where operations overlap their predecessors, the stream orders no times.
    std::vector<bool> overlaps(before_.context().lanes.size(), false);
    for (std::size_t t = 0; t < before_.size(); ++t) {
      const auto task = make_id<TaskId>(t);
      if (before_.segment_ns(task) < 0) overlaps[index(before_.lane_id(task))] = true;
    }
    for (std::size_t t = 0; t < before_.size(); ++t) {
      const auto task = make_id<TaskId>(t);
      const std::size_t lane = index(before_.lane_id(task));
      const bool stream = is_stream_like(before_.lane(task).kind);
      const Edge order{.lane = true, .sure = !overlaps[lane]};
      if (!stream || lost(task)) continue;
      examined_.stream_places += group_[t] != nullptr || open[lane] != nullptr ? 1 : 0;
      const StandIn* group = group_[t];
      if (group != nullptr && group->members.front() == task && last[lane] != none<TaskId> &&
          !holds(order, end_of(new_id(last[lane])), new_id(group->entry))) {
        return "a group begins before task " + std::to_string(index(last[lane]));
      }
      if (group == nullptr && open[lane] != nullptr &&
          !holds(order, end_of(new_id(open[lane]->exit)), new_id(task))) {
        return "task " + std::to_string(t) + " begins before a group of its stream ends";
      }
      if (group != nullptr) {
        open[lane] = group;
      } else {
        last[lane] = task;
      }
    }
    return {};
  }

  const TaskGraph& before_;
  const Committed& after_;
  std::vector<std::vector<Edge>> edges_;
  std::vector<const StandIn*> group_;
  std::vector<bool> removed_;
  std::vector<std::pair<TaskId, TaskId>> taken_;  ///< orders of a shared device that went
  mutable Examined examined_;
};

}  // namespace foretrace::test
