// Which operators make and read each recorded tensor, as far as a trace tells.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/graph/task_graph.h"

namespace foretrace::editing {

/// Launches of one call of an operator, consecutive on their thread.
struct OperatorRun {
  std::vector<TaskId> launches;  ///< host tasks with device work
  std::vector<TensorId> makes;   ///< allocated for it
  std::vector<TensorId> reads;   ///< made before, without those it makes
};

/// What it takes to make a tensor again.
struct TensorMaking {
  std::vector<std::uint32_t> runs;  ///< the one that made it, then those that wrote into it
  std::vector<TensorId> from;       ///< recorded tensors that these read
  std::vector<std::uint32_t> uses;  ///< every run that makes, reads or writes it; ascending
  std::int64_t device_ns = 0;       ///< of the kernels of `runs`
  /// Only kernels, sets and copies within the device make it, and what they read is there or can
  /// itself be made again whenever this one is needed.
  bool can_repeat = false;
  /// False for a map of the forward pass that no operator of the backward pass is known to read,
  /// where most of these record no inputs.
  bool is_use_known = true;
};

/// A trace names no operands. A tensor is made by the first operator that launches after its
/// allocation on that thread, and last used by the last one that launches before it is freed,
/// unless many are freed there together: then their owner is released, long after their use. In
/// between, an operator reads the youngest tensors that have the sizes of its recorded inputs (4
/// KiB or more); one without recorded inputs reads what the one before it made. Operators whose
/// name ends in '_' and that make nothing write into the first tensor they read.
class TensorUses {
 public:
  enum class Repeats : std::uint8_t { all, not_backward };
  /// `repeats`: whether what the backward pass made counts as something that can be made again.
  explicit TensorUses(const TaskGraph& graph, Repeats repeats = Repeats::all);

  static constexpr std::uint32_t no_run = UINT32_MAX;
  [[nodiscard]] const std::vector<OperatorRun>& runs() const { return runs_; }
  /// The run of a launch; no_run for other tasks.
  [[nodiscard]] std::uint32_t run_of(TaskId launch) const { return run_of_[index(launch)]; }
  [[nodiscard]] const TensorMaking& making(TensorId tensor) const {
    return makings_[index(tensor)];
  }
  /// True if most operators of the backward pass record no inputs.
  [[nodiscard]] bool is_backward_bare() const { return bare_backward_runs_ > backward_runs_ / 2; }

 private:
  [[nodiscard]] bool has_inputs(const OperatorRun& run) const;
  void find_runs();
  void mark_start(TaskId task);
  void find_makers();
  void find_reads();
  /// Of so many bytes and alive at `run`, the one last made that is `where`; none if there is none.
  template <typename Where>
  [[nodiscard]] TensorId youngest(double bytes, const OperatorRun& run, Where where);
  void read_by_shapes(std::uint32_t run);
  void read_last_made(std::uint32_t run);
  void add_read(std::uint32_t run, TensorId tensor);
  void find_last_uses();
  void find_repeatable();
  void find_unknown_uses();
  [[nodiscard]] bool starts_run(TaskId launch, TaskId previous) const;
  [[nodiscard]] std::uint32_t run_from(TaskId task) const;
  [[nodiscard]] std::uint32_t run_until(TaskId task) const;
  [[nodiscard]] bool lives_at(TensorId tensor, const OperatorRun& run) const;
  [[nodiscard]] bool is_repeatable(const OperatorRun& run) const;
  [[nodiscard]] const Work& work_of(const OperatorRun& run) const;

  const TaskGraph& graph_;
  Repeats repeats_;
  std::vector<OperatorRun> runs_;  // by their first launch
  std::vector<std::uint32_t> run_of_;
  std::vector<TensorMaking> makings_;
  std::size_t backward_runs_ = 0;
  std::size_t bare_backward_runs_ = 0;
  std::map<LaneId, std::vector<TaskId>> launches_;         // per thread, in program order
  std::vector<bool> starts_;                               // per task: begins a call of an operator
  std::map<std::int64_t, std::vector<TensorId>> by_size_;  // while reads are looked for
};

/// Bytes that a request takes of the caching allocator.
[[nodiscard]] constexpr std::int64_t block_bytes(std::int64_t requested) {
  return (requested + 511) / 512 * 512;
}

}  // namespace foretrace::editing
