// The way to change a graph: every structural change is made by an Editor.
//
// It writes a Change that keeps two laws, on graphs with several streams, event waits, hand-overs
// and ranks: what takes the place of tasks starts no earlier than what any of them waited for, and
// what waited for any of them waits for it. What cannot be done so, it refuses.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/result.h"
#include "sim/edit/options.h"
#include "sim/graph/change.h"
#include "sim/graph/task_graph.h"

namespace foretrace {

class Editor {
 public:
  explicit Editor(const TaskGraph& graph) : graph_(graph) {}

  [[nodiscard]] const TaskGraph& graph() const { return graph_; }
  /// What is written so far.
  [[nodiscard]] const Change& change() const { return change_; }
  /// Counts of one have their noun in the singular afterwards: "1 graphs" becomes "1 graph".
  void note(std::string_view text);
  /// A step does this many times the samples that it did.
  void set_samples(double factor) { change_.samples = factor; }
  /// The editor is empty afterwards.
  [[nodiscard]] Change finish();

  // ---- Times (weights.cpp) ----------------------------------------------------------------------

  ///   before   s: --a(10)--b(20)--        after scale({b}, 0.5)   s: --a(10)--b(10)--
  ///
  /// Durations round to the nearest ns. Errors: a factor that is negative or not a number, or that
  /// makes a duration longer than 100 years.
  [[nodiscard]] Status scale(std::span<const TaskId> tasks, double factor,
                             ScaleOf of = ScaleOf::duration, const Trust& trust = {});
  ///   before   s: --a(10)--b(20)--        after set_duration(b, 7)   s: --a(10)--b(7)--
  void set_duration(TaskId task, std::int64_t duration_ns,
                    const Trust& trust = {Provenance::assumed, 1.0F, 1.0F});
  ///   before   h: a(10) 5 b(3)        after set_segment(b, 1)   h: a(10) 1 b(3)
  void set_segment(TaskId task, std::int64_t segment_ns,
                   Provenance provenance = Provenance::assumed);
  ///   before   h: a --launch 4--> s: k        after set_lag(k, launch, 1)   h: a --launch 1--> s: k
  void set_lag(TaskId task, DependencyKind kind, std::int64_t lag_ns);

  /// What the kernel does is another work from now on, of the same kind; its time stays.
  void describe(TaskId task, WorkId work) { change_.works.push_back({task, work}); }

  // ---- Insert (insert.cpp) ----------------------------------------------------------------------

  /// The id that the next inserted task gets.
  [[nodiscard]] TaskId next_task() const;
  /// A work like `like`, whose names are the graph's, under another name (empty: the same name).
  WorkId add_work(const Work& like, std::string_view name = {});
  /// A work like `like` but for its names.
  WorkId add_work(const Work& like, const WorkTexts& texts);
  /// A work that has a name and a kind and nothing else; the same id for the same two.
  WorkId add_work(std::string_view name, TaskKind kind);
  LaneId add_lane(Lane lane);
  /// A group of ranks, for Work::communicator.
  std::uint32_t add_communicator(Communicator communicator);

  /// A task like an existing one: its lane, work, kind, phase, layer and step; no segment.
  [[nodiscard]] TaskSpec like(TaskId task) const;
  /// What has been said of an inserted task; may still be changed.
  [[nodiscard]] TaskSpec& spec_of(TaskId inserted);
  ///   before   h: a b        after insert(x, a, after)   h: a x b
  TaskId insert(const TaskSpec& task, TaskId anchor, Place place = Place::after);

  struct NewPair {
    TaskSpec call;
    TaskSpec device;
    std::int64_t latency_ns = 0;  ///< from the call to the earliest start of the work
    LatencyFrom latency_from = LatencyFrom::end;
  };
  ///   before   h: l1 ------- l2           after insert(pair, k1, after)   h: l1 ----- x ----- l2
  ///            s:    k1(l1)     k2(l2)                                    s:    k1(l1)  y(x) k2(l2)
  ///
  /// The anchor is normally the last device task of the launch before (or, with `before`, the next
  /// call), so that streams keep their order. Where the work of that next call stands further on,
  /// behind what it waits for, the new work stands right before it.
  Launched insert(const NewPair& pair, TaskId anchor, Place place = Place::after);

  /// `task` starts no earlier than the end of `source`.
  void depend(TaskId task, TaskId source, DependencyKind kind, std::int64_t lag_ns = 0);
  void depend(const Dependency& dependency);
  void wait(const Wait& wait) { change_.new_waits.push_back(wait); }
  /// What `like` waits for besides its lane and its launch, the inserted task waits for, too.
  void share_waits(TaskId inserted, TaskId like);
  /// What waits for the end of `like` besides its lane waits for the inserted task, too: as if an
  /// event had been recorded behind both.
  void share_waiting(TaskId inserted, TaskId like);

  // ---- Remove (remove.cpp) ----------------------------------------------------------------------

  /// True if an edit so far removes or replaces the task.
  [[nodiscard]] bool is_gone(TaskId task) const {
    return !gone_.empty() && index(task) < gone_.size() && gone_[index(task)];
  }
  ///   before   h: l1 ---- l2 ---- l3             after remove({k2})   h: l1 --------- l3
  ///            s:    k1 ------ k2 ---- k3                             s:    k1 -------- k3
  ///
  /// Whatever waited for a removed task waits for what that came after (see Removal). Returns the
  /// tasks that go, in id order; those that went before are not among them. What stands in for
  /// others by an edit before does not go.
  std::vector<TaskId> remove(std::span<const TaskId> tasks, const RemoveOptions& options = {});
  /// Takes away every explicit dependency of this kind into a task and, if no source is given, its
  /// waits of this kind.
  void remove_dependencies(TaskId task, DependencyKind kind, TaskId source = none<TaskId>);

  // ---- Replace, merge, split (replace.cpp, merge.cpp, split.cpp) --------------------------------

  /// The group in pieces, each of which replace() and merge() take: cut where a member is of
  /// another stream or thread, or where the members so far and the next cannot become one, because
  /// what waits for one of them has to come before what another waits for.
  [[nodiscard]] std::vector<std::vector<TaskId>> cut(std::span<const TaskId> group) const;
  [[nodiscard]] bool can_be_one(std::span<const TaskId> group) const;

  ///   before   h: l1 l2 l3                      after replace({k1, k2, k3}, {fused(25)})   h: l
  ///            s: k1(10,l1) k2(20,l2) k3(5,l3)                                             s: fused(25,l)
  ///
  /// Device work of one stream, in id order, with calls of one thread or without calls of its own.
  /// The new work stands where the first member stood, or where the next one did from which on both
  /// laws hold. Host time before the first call stays, that before the others goes.
  /// Phase, layer and step are those of the first.
  ///
  /// Errors: no members, nothing in their place, and whatever cut() would cut.
  [[nodiscard]] Result<std::vector<Launched>> replace(std::span<const TaskId> group,
                                                      std::span<const NewWork> with,
                                                      Stands stands = Stands::first);
  ///   before   h: l1 l2 l3   s: k1(l1) k2(l2) k3(l3)
  ///   after    h: l          s: k1(l) k2(l) k3(l)           replace_calls({l1, l2, l3}, l)
  ///
  /// Calls of one thread, in id order; their work stays and comes from the new call. Host time as
  /// for replace(). Errors as for replace().
  [[nodiscard]] Result<TaskId> replace_calls(std::span<const TaskId> calls, const NewCall& with);

  ///   before   h: l1 l2 l3                        after merge({k1, k2, k3})   h: l3
  ///            s: k1(10,l1) k2(20,l2) k3(5,l3)                                s: k3(35,l3)
  ///
  /// The last task stays and stands for all, or an earlier one, where only that keeps both laws.
  /// The others go, with their calls; host time before these stays.
  /// Errors as for replace().
  [[nodiscard]] Result<TaskId> merge(std::span<const TaskId> group,
                                     const MergeOptions& options = {});

  ///   before   s: k(30)            after split(k, {.parts = 3})   s: k(10) k'(10) k''(10)
  ///
  /// What waited for the end of the task waits for the last part; what waited for its start still
  /// does. Durations differ by at most 1 ns and add up to the old one. Returns the parts; the first
  /// is the task itself. Errors: no parts, or a number of parts beyond the duration in ns.
  [[nodiscard]] Result<std::vector<TaskId>> split(TaskId task, const SplitOptions& options = {});

  // ---- Order (order.cpp) ------------------------------------------------------------------------

  ///   before   s: a k b   s2: c        after move({k}, s2)   s: a b   s2: k c
  ///
  /// The place in program order stays, and decides the order on the new lane.
  void move(std::span<const TaskId> tasks, LaneId lane);
  ///   before   s: a b c d        after reorder({a, b}, d, after)   s: c d a b
  ///
  /// The tasks keep their order among each other.
  void reorder(std::span<const TaskId> tasks, TaskId anchor, Place place = Place::after);
  ///   before   s: a b c        after set_order({c, a, b})   s: c a b
  ///
  /// A schedule by hand: the tasks follow each other as they are listed, from the place of the
  /// first listed one on. One that stands behind the one before it already stays where it is.
  /// A task that is moved before its launch takes the launch along.
  void set_order(std::span<const TaskId> tasks);
  /// Smaller goes first on lanes with LanePolicy::priority. The event-driven engine reads it.
  void prioritize(std::span<const TaskId> tasks, std::int32_t priority);
  /// How the event-driven engine chooses among the ready tasks of a lane.
  void set_policy(LaneId lane, LanePolicy policy);
  /// How many entries a stream holds ahead of the executing one; 0: no limit.
  void set_queue_depth(LaneId lane, std::uint32_t depth);

  // ---- Replicate (replicate.cpp) ----------------------------------------------------------------

  ///   before   h: a   s: k(a)        after replicate({a, k}, 1, new_lanes)
  ///                                  h: a   s: k(a)   h': a'   s': k'(a')
  ///
  /// Dependencies and waits among the tasks are copied; a dependency on a task outside is one of
  /// every copy (not for new ranks: they see nothing of the others); nobody outside waits for a
  /// copy. Tensors, demands and segment parts are not copied. Errors: a task that does not exist.
  [[nodiscard]] Result<Copies> replicate(std::span<const TaskId> tasks, std::size_t copies,
                                         Onto onto);

  // ---- Tensors (see sim/edit/tensors.h) ---------------------------------------------------------

  void edit_tensor(const TensorEdit& edit) { change_.tensors.push_back(edit); }
  /// Its operator's name is given as text.
  void add_tensor(Tensor tensor, std::string_view operator_name);

  // ---- Parameters -------------------------------------------------------------------------------

  /// What the model consists of afterwards; its uses may be of inserted tasks.
  void set_parameters(ParameterTable table) {
    change_.parameters = std::make_shared<const ParameterTable>(std::move(table));
  }
  /// The inserted task does again what `task` does.
  void repeat(TaskId inserted, TaskId task) { change_.repeats.push_back({inserted, task}); }

 private:
  friend class GroupPlace;
  /// A place in the program order of the graph: 4 x id of a task, + 1 before it, + 2 itself, + 3
  /// after it.
  using Position = std::uint64_t;
  static constexpr Position before = 1, itself = 2, after = 3;
  static constexpr Position position(TaskId task, Position side) {
    return 4 * static_cast<Position>(task) + side;
  }
  /// Of a task of the change; of a member, that of its stand-in.
  [[nodiscard]] Position position_of(TaskId task) const;
  /// By a stand-in.
  [[nodiscard]] bool is_replaced(TaskId task) const {
    return index(task) < moved_to_.size() && moved_to_[index(task)] != 0;
  }

  [[nodiscard]] TaskId work_behind(TaskId call) const;
  void mark_gone(TaskId task, SegmentOf segment);
  void remove_calls(std::span<const TaskId> calls);
  [[nodiscard]] const Work& work_of(WorkId id) const;  ///< recorded, or added
  [[nodiscard]] TaskSpec spec_of_call(TaskId like, const NewCall& call) const;
  void launch(const Launched& put, const NewCall& call, std::span<const TaskId> members);
  void stand_in(StandIn group);

  const TaskGraph& graph_;
  Change change_;
  std::vector<bool> gone_;             // per task of the graph; empty: none
  std::vector<Position> inserted_at_;  // per inserted task
  std::vector<Position> moved_to_;  // per task of the graph, of members of stand-ins; 0: it stays
  std::multimap<TaskId, Dependency> added_into_;    // what depend() said of tasks of the graph
  std::multimap<TaskId, Dependency> added_out_of_;  // by the source
  std::map<std::pair<std::string, TaskKind>, WorkId> works_;
};

}  // namespace foretrace
