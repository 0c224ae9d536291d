// Copies of recorded kernels on the threads and streams of other stages of a pipeline, with what
// streams wait for each other for and with the collectives of their tensor groups.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "models/editing/kernels/copied_waits.h"
#include "models/editing/kernels/kernel_editor.h"
#include "models/whatifs/parallelism/network_calls.h"
#include "models/whatifs/parallelism/tensor_split.h"

namespace foretrace::editing {

/// One pass of one micro-batch on one stage.
struct StageVisit {
  std::uint32_t stage = 0;
  std::uint32_t micro_batch = 0;
};

/// What is put in stands in the order of the calls of these functions.
class StageEmitter {
 public:
  /// Stage 0 is the recorded rank; the others are ranks behind it, made when they are first used.
  StageEmitter(KernelEditor& editor, NetworkCalls& network, const GridAxis& tensor_group)
      : editor_(editor), graph_(editor.graph()), network_(network), tensor_group_(tensor_group) {}

  /// What is copied is of a pass that is split so; without divided products empty.
  void take(const TensorSplit& split);
  /// What is put in from now on stands before this call, and is of another pass.
  void begin(TaskId anchor_call);
  /// What is emitted from now on belongs to the visit. On each of its streams the first kernel
  /// waits for `arrived`, if anything comes from another stage, and for all streams of the stage's
  /// visit before: recorded kernels had the device without those of another micro-batch.
  void visit(StageVisit visit, TaskId arrived = none<TaskId>);
  /// The recorded rank does this visit with the kernels themselves.
  void visit_recorded(StageVisit visit, const std::vector<TaskId>& kernels, TaskId arrived);
  /// A kernel of the visit, as it is in the pass that is copied.
  TaskId emit(TaskId kernel);
  /// The same with another time.
  TaskId emit(TaskId kernel, const Cost& cost);
  /// The first kernel of a pass: its thread does this before its call, not what was recorded.
  TaskId emit_first(TaskId kernel, std::int64_t host_ns);
  /// `task` waits for all streams of the visit, or for what those would wait for.
  void wait_for_visit(TaskId task);
  /// A collective on a stream of the stage; waits for what next_waits() was told of the stage.
  TaskId send(std::uint32_t stage, TaskId like, const NetworkTransfer& transfer);
  /// What is put on the stage's stream next waits for the task.
  void next_waits(std::uint32_t stage, TaskId task) { pending_[stage].push_back(task); }
  [[nodiscard]] std::int64_t cost_ns(TaskId kernel) const;

 private:
  /// What was put on the stage's streams last; none: nothing yet.
  [[nodiscard]] TaskId last(std::uint32_t stage) const;
  TaskId put(TaskId kernel, std::int64_t host_ns, const Cost& cost);
  [[nodiscard]] Cost cost_of(TaskId kernel) const;
  /// Host time before the recorded call.
  [[nodiscard]] std::int64_t recorded_host_ns(TaskId kernel) const;
  [[nodiscard]] LaneId lane_of(std::uint32_t stage, LaneId recorded);
  [[nodiscard]] Lane described(std::uint32_t stage, TaskId like) const;
  void exchange(std::uint32_t stage, TaskId like, const SplitExchange& what, TaskId source);

  KernelEditor& editor_;
  const TaskGraph& graph_;
  NetworkCalls& network_;
  GridAxis tensor_group_;
  TaskId anchor_ = none<TaskId>;
  std::map<TaskId, Cost> cost_;
  std::multimap<TaskId, SplitExchange> before_;
  std::multimap<TaskId, SplitExchange> after_;
  std::map<std::pair<std::uint32_t, LaneId>, LaneId> lanes_;
  std::map<std::uint32_t, std::vector<TaskId>> pending_;
  std::map<std::pair<std::uint32_t, TaskId>, std::vector<TaskId>> until_;
  std::map<std::uint32_t, TaskId> last_;
  StageVisit visit_;
  /// By stage and micro-batch: a backward pass waits for what went forward.
  std::map<std::pair<std::uint32_t, std::uint32_t>, CopiedWaits> waits_;
  std::map<std::uint32_t, CopiedWaits*> last_visit_;
};

}  // namespace foretrace::editing
