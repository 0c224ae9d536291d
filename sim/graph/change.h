// Change: what a what-if returns; commit() turns a graph and a change into the next graph.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/graph_builder.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

/// Ids of a change: below the graph's size they mean its tasks, from there on `inserted` in order.
struct DurationEdit {
  TaskId task{};
  std::int64_t duration_ns = 0;
  Provenance provenance = Provenance::scaled;
  float low = 1.0F;  ///< low and high bound as a factor of duration_ns (declared uncertainty)
  float high = 1.0F;
};
struct SegmentEdit {
  TaskId task{};
  std::int64_t segment_ns = 0;
  Provenance provenance = Provenance::measured;
};
/// Every dependency of this kind into the task gets this lag.
struct LagEdit {
  TaskId task{};
  DependencyKind kind = DependencyKind::none;
  std::int64_t lag_ns = 0;
};
/// What a task does, said anew: it keeps its place and its time. What comes after the change sees
/// the new work: its shapes, its precision.
struct WorkEdit {
  TaskId task{};
  WorkId work{};  ///< of the same kind as before
};
enum class SegmentOf : std::uint8_t {
  keep,  ///< host time before the task goes to its successor on the lane (default)
  take,  ///< it goes with the task; so does, in both cases, the gap before device work
};
/// Splices, unless a StandIn takes the task's place: what waited for the task waits for what the
/// task came after. It keeps its place in time with length zero, but the latencies it paid itself
/// (launch, synchronization, event) are gone. The waits of a removed host call end with it; those
/// of device work pass to the next task of the stream, since the stream still waits. Kernels of a
/// removed launch that stay are caused by what preceded the launch.
struct Removal {
  TaskId task{};
  SegmentOf segment = SegmentOf::keep;
};
/// Tasks, and what takes their place. Whatever a member waited for, the entry waits for; whatever
/// waited for the end of a member waits for the end of the exit; what waited for its start waits
/// for the start of the entry, later by the members before it. Members are tasks of the graph that
/// the change removes, or the entry or exit themselves. Where a member has a rule (Wait), the entry
/// gets it. Launches of members are not handed over: what takes their place has a launch of its
/// own.
struct StandIn {
  std::vector<TaskId> members;  ///< in id order; no task is a member of two
  TaskId entry{};
  TaskId exit{};  ///< may be the entry
  /// Stood between members on their lane and come after the exit now: as the lane made later
  /// members wait for whatever these wait for, so does the entry.
  std::vector<TaskId> between = {};
};
enum class Place : std::uint8_t { before, after };
/// Several at one place stand in the order of the change.
struct Insertion {
  TaskSpec task;
  TaskId anchor{};  ///< in program order; an earlier inserted or a removed task will do
  Place place = Place::after;
};
/// To another lane, with its segment; the place in program order stays.
struct Move {
  TaskId task{};
  LaneId lane{};
};
/// To another place in program order, and thereby on its lane.
struct Reordering {
  TaskId task{};
  TaskId anchor{};
  Place place = Place::after;
};
/// Takes away every explicit dependency of this kind into a task and, if no source is given, its
/// waits of this kind. The task may be a removed one: its sources are then not passed on.
struct DependencyRemoval {
  TaskId task{};
  DependencyKind kind = DependencyKind::none;
  TaskId source = none<TaskId>;
};
/// Hardware edit: another queue depth on a lane (0: no limit).
struct QueueEdit {
  LaneId lane{};
  std::uint32_t depth = 0;
};
struct PolicyEdit {
  LaneId lane{};
  LanePolicy policy = LanePolicy::program_order;
};
struct PriorityEdit {
  TaskId task{};
  std::int32_t priority = 0;  ///< smaller goes first
};

/// Another size of a tensor; its lifetime stays.
struct TensorEdit {
  TensorId tensor{};
  std::int64_t bytes = 0;             ///< of its block; 0: it is no longer allocated
  std::int64_t requested_bytes = -1;  ///< -1: as large as the block
  Provenance provenance = Provenance::scaled;
};

/// An inserted task that does again what another one does: it reads the same parameters.
struct Repeat {
  TaskId inserted{};
  TaskId task{};
};

/// Why the run may not be one that a change is for.
struct ChangeDoubt {
  std::string text;  ///< a few words
  /// The bounds of the edited durations hold whatever it says: the range need not grow for it.
  bool is_bounded = false;
};

/// A run that is emitted anew rather than edited: none of its tasks is one of the graph.
struct Successor {
  TaskGraph graph;
  std::vector<float> low;  ///< per task, factor of its duration; empty: all 1
  std::vector<float> high;
};

struct Change {
  /// Not null: the next graph; the change then edits no task, tensor or parameter.
  std::shared_ptr<const Successor> successor;
  std::vector<DurationEdit> durations;
  std::vector<SegmentEdit> segments;
  std::vector<LagEdit> lags;
  std::vector<WorkEdit> works;
  std::vector<Removal> removed;
  std::vector<StandIn> stand_ins;
  std::vector<Lane> new_lanes;                  ///< ids follow the graph's lanes
  std::vector<Communicator> new_communicators;  ///< numbers follow the graph's communicators
  std::vector<Work> new_works;  ///< ids follow the graph's works; names are ids of `names`
  NameTable names;              ///< names used by new_works and new_tensors
  std::vector<Insertion> inserted;
  std::vector<Dependency> new_dependencies;
  std::vector<Wait> new_waits;
  std::vector<DependencyRemoval> removed_dependencies;
  std::vector<Move> moved;
  std::vector<Reordering> reordered;
  std::vector<QueueEdit> queues;
  std::vector<PolicyEdit> policies;
  std::vector<PriorityEdit> priorities;
  std::vector<TensorEdit> tensors;
  /// Ids follow the graph's tensors; tasks may be inserted ones, names are ids of `names`.
  std::vector<Tensor> new_tensors;
  /// What the model consists of afterwards, uses by the ids of the change; null: as before.
  std::shared_ptr<const ParameterTable> parameters;
  std::vector<Repeat> repeats;
  /// Set where a step then processes its samples otherwise: how many times the recorded number.
  std::optional<double> samples;
  std::vector<std::string> notes;  ///< what the answer rests on, for the report
  /// Each speaks for itself: one that is bounded leaves the range to grow for the others.
  std::vector<ChangeDoubt> doubts;

  [[nodiscard]] bool changes_topology() const;
  [[nodiscard]] bool empty() const;
  /// Tasks of `graph` that get another time, place or order, or go, and new ones, each once: not
  /// those whose time stays and only gets a range.
  [[nodiscard]] std::size_t tasks_changed(const TaskGraph& graph) const;
};

/// What became of the old ids, and the bounds of edited durations in the new ids.
struct Committed {
  TaskGraph graph;
  std::vector<TaskId> new_id;  ///< per old or inserted id; none if removed. Empty: ids unchanged
  std::vector<float> low;      ///< per task, factor of its duration; empty: all 1
  std::vector<float> high;
};

/// Whether commit() examines what it made: a few passes over the graph and a search per task that
/// lost somebody it waited for.
enum class Checks : std::uint8_t { none, all };
/// All in builds with assertions, none in others.
[[nodiscard]] Checks default_checks();

/// Two laws hold: what takes the place of tasks starts no earlier than what any of them waited for,
/// and what waited for any of them waits for it. Where nothing takes the place of a removed task,
/// what waited for it waits for what it waited for. A change without structural edits shares the
/// topology. Errors: unknown ids, two edits of one kind on one task with different values, an edit
/// of a removed task, a cycle.
[[nodiscard]] Result<Committed> commit(const TaskGraph& graph, const Change& change,
                                       Checks checks = default_checks());

/// Both laws, examined on the two graphs alone. The error names who no longer waits for whom.
[[nodiscard]] Status check_laws(const TaskGraph& before, const Change& change,
                                const Committed& committed);

}  // namespace foretrace
