// From what the rules found in one rank to tasks: one per item of its program order, two for a
// collective that meets other ranks. Several ranks may emit into one builder in turns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/graph/graph_builder.h"
#include "trace/graph/built_graph.h"
#include "trace/rules/assembly/assembly.h"
#include "trace/rules/emit/tensors.h"
#include "trace/rules/emit/work_table.h"

namespace foretrace::trace::rules {

class RankEmitter {
 public:
  /// `recorded` gets the recorded start of every task that is added; it grows with the builder.
  RankEmitter(Assembly& assembly, GraphBuilder& builder, std::vector<std::int64_t>& recorded);

  /// Lanes, devices and layers. Steps come later and take the numbers from `first_step` on.
  void begin(std::int32_t first_step);
  /// Layers of a rank with the same modules, instead of new ones.
  void share_layers(const RankEmitter& other);

  [[nodiscard]] bool done() const { return next_ == a_.items.size(); }
  /// When the next item was recorded, from the origin on.
  [[nodiscard]] std::int64_t next_time_ns() const;
  /// Adds the next item. Of a collective that waits for other ranks only the arrival: the rest
  /// needs finish() first. Returns the collective if it meets other ranks, else null.
  const CollectiveOp* advance();
  /// The first task of the item that was added last.
  [[nodiscard]] TaskId arrival() const { return begin_.back(); }
  /// Adds the transfer of the collective that advance() stopped at, behind its rendezvous.
  void finish(std::span<const TaskId> joins);
  /// What tasks wait for, steps and tensors, when all items are there.
  void end();

  [[nodiscard]] const std::vector<MeasuredStep>& measured() const { return measured_; }
  /// Per lane of the graph the host thread it is, or none.
  [[nodiscard]] std::vector<TrackId> thread_tracks(std::size_t lanes) const;
  /// What end() found in the memory of the rank's devices.
  [[nodiscard]] AddedTensors take_tensors() { return std::move(added_tensors_); }
  /// The task of a position of the program order; of a pair its begin.
  [[nodiscard]] TaskId task_at(std::uint32_t position) const {
    return position < begin_.size() ? begin_[position] : make_id<TaskId>(after_last_);
  }

 private:
  [[nodiscard]] TaskId end_at(std::uint32_t position) const { return end_[position]; }
  [[nodiscard]] LayerId layer_of(EventId event) const;
  [[nodiscard]] Phase phase_of(EventId event) const;
  [[nodiscard]] std::int32_t step_at(std::int64_t time) const;
  void add_call(const HostCall& call);
  void add_segment_parts(std::uint32_t thread, std::int64_t from, std::int64_t to);
  void add_finish(const HostCall& call);
  void add_op(const DeviceOp& op);
  void add_unrecorded(const DeviceOp& op, TaskSpec task);
  void add_capacity(const Source& source, TaskId task);
  void add_waits();
  void add_steps();
  TaskId add(const TaskSpec& task, std::int64_t recorded_ns);

  Assembly& a_;
  GraphBuilder& builder_;
  std::vector<std::int64_t>& recorded_;
  std::int32_t rank_;
  WorkTable works_;
  std::int32_t first_step_ = 0;
  std::size_t next_ = 0;        // position of the next item
  std::size_t after_last_ = 0;  // id that follows the last task of the rank
  std::vector<TaskId> begin_;   // per position
  std::vector<TaskId> end_;     // per position
  std::vector<LaneId> thread_lanes_;
  std::vector<LaneId> stream_lanes_;
  std::vector<LayerId> layers_{LayerId{0}};
  std::vector<std::size_t> region_;
  std::vector<MeasuredStep> measured_;
  AddedTensors added_tensors_;
};

}  // namespace foretrace::trace::rules
