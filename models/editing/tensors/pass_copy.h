// Training passes once more: everything that the host and the device do for a pass.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/tensors/training_pass.h"
#include "sim/graph/links.h"

namespace foretrace::editing {

/// Copies passes. On every thread a pass is what lies between its first and its last launch:
/// kernels, copies and sets with their calls, and calls that launch nothing (synchronizations,
/// cudaFree, event records), with the host time before them. A copy waits for what its original
/// waited for: for copies of what was in the pass, for the original of what was before it, and where
/// that was on a stream of the pass, for the copy before: so does the pass. Left out
/// are collectives, loading of data, updates, and what is done at first use only: calls of a name,
/// and time in them, take no more than in the median pass.
class PassCopier {
 public:
  PassCopier(KernelEditor& editor, std::span<const TrainingPass> passes);

  /// Puts a copy of a pass before `anchor`, a host task, on its thread. Returns the copy of its
  /// first kernel.
  TaskId put(std::size_t pass, TaskId anchor);

  /// Time on the host of calls that launch no kernel, in all copies, and how many there are.
  [[nodiscard]] std::int64_t calls_ns() const { return calls_ns_; }
  [[nodiscard]] std::size_t calls() const { return calls_; }

 private:
  /// The calls of a name on a rank.
  using Name = std::pair<std::int32_t, NameId>;

  [[nodiscard]] std::vector<TaskId> calls_of(const TrainingPass& pass) const;
  [[nodiscard]] bool is_of_pass(TaskId call) const;
  [[nodiscard]] Name name_of(TaskId call) const {
    return {graph_.lane(call).rank, graph_.work(call).name};
  }
  void leave_out_extra(std::vector<TaskId>& calls) const;
  [[nodiscard]] std::map<Name, double> kept_shares(const std::vector<TaskId>& calls) const;
  void copy_call(TaskId call, TaskId anchor, const std::map<Name, double>& kept);
  void connect(TaskId task);
  void follow_copy(TaskId task, TaskId waiting);
  [[nodiscard]] bool moves(Point& point) const;

  KernelEditor& editor_;
  const TaskGraph& graph_;
  WaitIndex waits_;
  std::vector<std::vector<TaskId>> calls_of_pass_;
  std::vector<TaskId> first_kernel_;
  std::map<Name, std::size_t> usual_number_;
  std::map<Name, std::int64_t> usual_ns_;     // of all calls of a pass
  std::vector<std::map<Name, double>> kept_;  // per pass: share of their time, where it is not all
  TaskId begin_{};                            // the first call of the pass at hand
  std::map<TaskId, TaskId> twins_;            // of the copy at hand
  std::map<LaneId, TaskId> last_before_;      // of the copy of this pass before it, by stream
  std::int64_t calls_ns_ = 0;
  std::size_t calls_ = 0;
};

}  // namespace foretrace::editing
