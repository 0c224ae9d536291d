// The parts of commit(): checks, the path for weights only, and the path that rebuilds the graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/change.h"
#include "sim/graph/commit/draft.h"
#include "sim/graph/commit/stand_ins.h"
#include "sim/graph/commit/wait_sight.h"
#include "sim/graph/task_graph.h"

namespace foretrace::committing {

/// What happens to a task of the graph or of Change::inserted.
enum class Fate : std::uint8_t { kept, removed, removed_with_segment };

/// Ids in range, no two edits that contradict each other, no edit of a removed task. Gives the fate
/// of every id of the change; empty if nothing is removed.
[[nodiscard]] Result<std::vector<Fate>> check_change(const TaskGraph& graph, const Change& change);

/// The new graph of a change that keeps the topology; nothing if a lag does not fit its slot.
[[nodiscard]] Result<std::optional<Committed>> commit_weights(const TaskGraph& graph,
                                                              const Change& change);

/// The new graph of any checked change.
[[nodiscard]] Result<Committed> commit_structure(const TaskGraph& graph, const Change& change,
                                                 std::vector<Fate> fate);

/// The new works, behind those that there are.
void apply_works(const Change& change, GraphContext& context);
/// Lane policies, queue depths and priorities of a change; priorities by the ids of the change.
void apply_policies(const Change& change, GraphContext& context);

/// Tensors that exist, sizes that are none below zero, lifetimes between tasks of the change.
[[nodiscard]] Status check_tensors(const TaskGraph& graph, const Change& change);
/// True if the change edits tensors, or host time within which they or labelled parts lie.
[[nodiscard]] bool touches_tensors(const TaskGraph& graph, const Change& change);
/// Edited and new tensors, by the ids of the change. Where a segment gets another length, moments
/// and parts in it move with it.
void apply_tensors(const TaskGraph& graph, const Change& change, GraphContext& context);

/// The parameters of a change, by its ids, with those that repeats read.
void apply_parameters(const Change& change, GraphContext& context);
/// The edit leaves the time of a recorded task as it is and claims no range for it: what the time
/// was measured by, or rests on, stays, too.
[[nodiscard]] inline bool keeps_time(const TaskGraph& graph, const DurationEdit& edit) {
  return index(edit.task) < graph.size() && edit.duration_ns == graph.duration_ns(edit.task) &&
         edit.low == 1.0F && edit.high == 1.0F;
}
[[nodiscard]] inline bool keeps_time(const TaskGraph& graph, const SegmentEdit& edit) {
  return index(edit.task) < graph.size() && edit.segment_ns == graph.segment_ns(edit.task);
}
/// Keeps the declared bounds of an edit for task `task` of a graph with `size` tasks.
void keep_bounds(const DurationEdit& edit, TaskId task, Committed& committed);

/// Where every task goes. Ids are those of the change: the graph's tasks, then the inserted ones.
struct Placement {
  std::vector<Fate> fate;        ///< empty: nothing is removed
  std::vector<TaskId> sequence;  ///< in the new program order, removed tasks at their old places
  std::vector<TaskId> order;     ///< per new id: the id of the change
  std::vector<TaskId> new_id;    ///< none if removed
  std::vector<TaskId> position;  ///< new id of the first task that is not before its place
  std::vector<std::uint32_t> ghost;  ///< per removed task of the graph: how many were before it
  [[nodiscard]] bool any_removed() const { return !fate.empty(); }
  [[nodiscard]] bool removed(TaskId task) const {
    return any_removed() && fate[index(task)] != Fate::kept;
  }
  /// New id of the task at a position of the old program order, which may be its end.
  [[nodiscard]] TaskId new_position(TaskId at, std::size_t tasks_before) const {
    return index(at) < tasks_before ? position[index(at)] : make_id<TaskId>(order.size());
  }
  /// Of a kept task; no_point stays.
  [[nodiscard]] Point new_point(Point point) const {
    if (point == no_point) return point;
    const TaskId task = new_id[index(task_of(point))];
    return is_end(point) ? end_of(task) : start_of(task);
  }
};

/// Errors: anchors that go in a circle.
[[nodiscard]] Result<Placement> place(const TaskGraph& graph, const Change& change,
                                      std::vector<Fate> fate);

/// Which dependencies and waits a change takes away.
class TakenAway {
 public:
  TakenAway(const TaskGraph& graph, const Change& change);
  [[nodiscard]] bool dependency(TaskId task, DependencyKind kind, TaskId source) const;
  [[nodiscard]] bool wait(const Wait& wait) const;
  /// False if nothing is taken away from the task.
  [[nodiscard]] bool touches(TaskId task) const {
    return !touched_.empty() && touched_[index(task)];
  }

 private:
  template <typename Matches>
  [[nodiscard]] bool any(TaskId task, DependencyKind kind, const Matches& matches) const;

  std::vector<DependencyRemoval> rows_;  // sorted by task
  std::vector<bool> touched_;            // per task; empty if there are no rows
};

/// Lag edits by task and kind.
class LagEdits {
 public:
  explicit LagEdits(const Change& change);
  [[nodiscard]] bool touches(TaskId task) const;
  /// The edited lag, or the given one.
  [[nodiscard]] std::int64_t lag(TaskId task, DependencyKind kind, std::int64_t lag_ns) const;

 private:
  std::vector<LagEdit> edits_;
};

/// A point that a removed task would have come after, and how much later it could not begin.
struct Reach {
  Point source = no_point;  ///< of a kept task
  Point late_after = no_point;
  std::int64_t lag_ns = 0;
  DependencyKind kind = DependencyKind::none;  ///< of the removed task's own dependency
  bool on_lane = false;                        ///< through the removed task's lane
  bool by_rule = false;  ///< resolved from a Wait, which the next task of the stream inherits
};

/// What is left of removed tasks: what they came after, and who takes their place on the lane.
/// A removed task keeps its place in time as a task of length zero: it can begin when its lane and
/// its sources allow. Latencies that it paid itself (launch, synchronization, event, queue, device
/// gap) are gone with it; host time before it stays unless its segment goes too. What a task with a
/// stand-in waited for is the stand-in's business: its ghost only passes on the order of the lane.
class Ghosts {
 public:
  struct Of {
    const TaskGraph& graph;
    const TakenAway& taken_away;
    const Placement& placement;
    const StandIns& stand_ins;
    const WaitSight& sight;
    const std::vector<LaneId>& lane;  ///< per new task
  };
  explicit Ghosts(const Of& of);

  /// Sources of a removed task, all of them kept tasks, none of them implied by another.
  [[nodiscard]] std::span<const Reach> reach(TaskId removed) const;
  /// The kept task before it on its lane in the old order.
  [[nodiscard]] TaskId kept_before(TaskId removed) const { return at(removed).kept_before; }
  /// The point itself, that of a stand-in, or the end of the task that precedes a removed one on
  /// its lane.
  [[nodiscard]] Point kept_point(Point point) const;
  /// What a condition of `task` (a kept one, by the ids of the change) speaks of now; no_point, so
  /// that it always holds, where that is something after the task or the task itself.
  [[nodiscard]] Point condition(Point point, TaskId task) const;

 private:
  struct Ghost {
    TaskId kept_before = none<TaskId>;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };
  [[nodiscard]] const Ghost& at(TaskId task) const {
    return ghosts_[of_.placement.ghost[index(task)]];
  }
  void add_lane(TaskId task);
  void add_sources(TaskId task);
  void add(Reach reach);
  [[nodiscard]] LaneId lane_of(Point point) const;

  Of of_;
  std::vector<Ghost> ghosts_;
  std::vector<Reach> reaches_;
  std::vector<Reach> collected_;  // of the task at hand
};

/// Who takes over from a removed task.
struct Heir {
  TaskId task = none<TaskId>;      ///< next kept task of the lane, id of the change
  TaskId previous = none<TaskId>;  ///< kept task before it on the lane
  std::int64_t later_ns = 0;       ///< from the end of the removed segment to that of the heir's
};

/// The tasks of the new graph: columns and weights.
struct NewTasks {
  TaskColumns columns;
  std::vector<std::int64_t> duration_ns;
  std::vector<std::int64_t> segment_ns;
};

[[nodiscard]] NewTasks gather_tasks(const TaskGraph& graph, const Change& change,
                                    const Placement& placement);

/// Dependencies in new ids: those in slots, and the others.
struct Links {
  Slots slots;
  std::vector<Dependency> dependencies;
};
/// What decides about the dependencies of the new graph.
struct LinkRules {
  const TaskGraph& graph;
  const Change& change;
  const Placement& placement;
  const TakenAway& taken_away;
  const StandIns& stand_ins;
  const Ghosts& ghosts;
  const LagEdits& lag_edits;
  const WaitSight& sight;
  const std::vector<LaneId>& lane;  ///< per new task
};
[[nodiscard]] Links carry_over_links(const LinkRules& how);

/// Gives the host time before removed tasks to the next task of the lane. One heir per ghost.
[[nodiscard]] std::vector<Heir> hand_down(const TaskGraph& graph, const Placement& placement,
                                          const std::vector<Lane>& lanes, NewTasks& tasks);

/// Everything about the old graph's context that names tasks, in new ids.
void carry_over_context(const Placement& placement, const std::vector<Heir>& heirs,
                        GraphContext& context, NewTasks& tasks);

}  // namespace foretrace::committing
