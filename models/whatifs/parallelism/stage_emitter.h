// Copies of recorded kernels on the threads and streams of other stages of a pipeline, with the
// collectives of their tensor groups.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/whatifs/parallelism/network_calls.h"
#include "models/whatifs/parallelism/tensor_split.h"

namespace foretrace::editing {

/// What is put in stands in the order of the calls of these functions.
class StageEmitter {
 public:
  /// Stage 0 is the recorded rank; the others are ranks behind it, made when they are first used.
  StageEmitter(KernelEditor& editor, NetworkCalls& network, const GridAxis& tensor_group)
      : editor_(editor), graph_(editor.graph()), network_(network), tensor_group_(tensor_group) {}

  /// What is copied is of a pass that is split so; without divided products empty.
  void take(const TensorSplit& split);
  /// What is put in from now on stands before this call.
  void begin(TaskId anchor_call) { anchor_ = anchor_call; }
  /// A kernel of a stage, as it is in the pass that is copied.
  TaskId emit(std::uint32_t stage, TaskId kernel);
  /// The same with another time.
  TaskId emit(std::uint32_t stage, TaskId kernel, const Cost& cost);
  /// The first kernel of a pass: its thread does this before its call, not what was recorded.
  TaskId emit_first(std::uint32_t stage, TaskId kernel, std::int64_t host_ns);
  /// A collective on a stream of the stage; waits for what next_waits() was told of the stage.
  TaskId send(std::uint32_t stage, TaskId like, const NetworkTransfer& transfer);
  /// What is put on the stage's stream next waits for the task.
  void next_waits(std::uint32_t stage, TaskId task) { pending_[stage].push_back(task); }
  /// What was put on the stage's stream last; none: nothing yet.
  [[nodiscard]] TaskId last(std::uint32_t stage) const;

  [[nodiscard]] std::int64_t cost_ns(TaskId kernel) const;

 private:
  TaskId put(std::uint32_t stage, TaskId kernel, std::int64_t host_ns, const Cost& cost);
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
};

}  // namespace foretrace::editing
