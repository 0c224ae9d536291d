// A second sub-array of models beside the recorded one, half a step behind it on the same streams.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "models/editing/chains/corun_queues.h"
#include "models/editing/kernels/kernel_editor.h"

namespace foretrace::editing {

/// A kernel of the second sub-array, and the recorded kernels (with calls) that it stands before.
struct Twin {
  TaskId task{};
  TaskId beside{};
  TaskId earlier = none<TaskId>;  ///< the one before `beside`; none if that is the first
};

class HalfStep {
 public:
  /// Models in the sub-array that takes the place of the recorded model, and in the one beside it;
  /// `conflict` as in run_beside().
  HalfStep(KernelEditor& editor, double first, double second, double conflict)
      : editor_(editor), first_(first), second_(second), conflict_(conflict) {}

  /// The kernels `own` of the first sub-array share the device with copies of `other`, which the
  /// second one runs. False if none of `own` has a launch call of its own.
  bool share(const std::vector<TaskId>& own, const std::vector<TaskId>& other);
  /// The second sub-array runs this kernel, too, one after the other.
  void repeat(TaskId kernel);

  [[nodiscard]] double first() const { return first_; }
  [[nodiscard]] double second() const { return second_; }
  /// Null for kernels without a copy.
  [[nodiscard]] const Twin* twin(TaskId kernel) const;
  /// Device time of one model, and of all of them now.
  [[nodiscard]] std::int64_t one_ns() const { return one_ns_; }
  [[nodiscard]] std::int64_t all_ns() const { return all_ns_; }

  /// Time of this kernel for so many models at once: its ramp-up once; products in waves, where
  /// the accelerator is known.
  [[nodiscard]] Cost fused(TaskId kernel, double models) const;

 private:
  /// A kernel of either sub-array, the recorded one on whose stream it is, and its place among
  /// the kernels of the first sub-array.
  struct Placed {
    TaskId task = none<TaskId>;
    TaskId recorded = none<TaskId>;
    TaskId beside = none<TaskId>;
    bool is_twin = false;
  };
  Placed follow(const Placed& now, const Placed& before);
  void set(TaskId kernel, std::int64_t ns, const Cost& alone, bool beside);
  TaskId add(TaskId kernel, TaskId beside, bool host_time, std::int64_t ns);
  void bound(TaskId task, std::int64_t ns, const Cost& alone, bool beside);

  KernelEditor& editor_;
  CorunModel model_;
  double first_ = 1;
  double second_ = 0;
  double conflict_ = -1;
  std::map<TaskId, Twin> twins_;
  std::int64_t one_ns_ = 0;
  std::int64_t all_ns_ = 0;
};

}  // namespace foretrace::editing
