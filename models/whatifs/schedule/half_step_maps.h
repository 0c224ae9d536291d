// Activations of two sub-arrays of models half a step apart: how long they live, which are swapped.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/editing/copies/copy_engine.h"
#include "models/editing/tensors/stash.h"
#include "models/whatifs/schedule/half_step.h"
#include "sim/edit/tensors.h"

namespace foretrace::editing {

class HalfStepMaps {
 public:
  /// `swap`: share of the bytes of activations of at least `least` bytes that leave the device;
  /// `bandwidth` in B/s, each way.
  HalfStepMaps(KernelEditor& editor, const HalfStep& step, double bandwidth, double swap,
               double least)
      : editor_(editor),
        graph_(editor.graph()),
        step_(step),
        engine_(editor, bandwidth),
        tensors_(editor.edit()),
        swap_(swap),
        least_(least),
        done_(editor.graph().context().tensors.size(), false) {}

  /// A pass of which both halves are shared; in program order.
  void keep(const TrainingPass& pass);
  /// After all passes: what is left, and the sizes of all other tensors.
  void finish();

  [[nodiscard]] double moved_bytes() const { return engine_.bytes(CopyEngine::Direction::to_host); }
  [[nodiscard]] std::string note() const { return tensors_.note(); }

 private:
  /// What the second sub-array has of a map between two passes.
  struct Carried {
    std::size_t tensor = Stash::no_tensor;  ///< on the device, as this recorded one
    TaskId since = none<TaskId>;
    TaskId left = none<TaskId>;  ///< or the copy with which it went to the host
  };
  using Device = std::pair<std::int32_t, std::int32_t>;

  [[nodiscard]] std::vector<bool> choose(const std::vector<Stash>& stashes) const;
  void keep_own(const TrainingPass& pass, const Stash& stash, bool swapped, TaskId& issue);
  Carried keep_twin(const TrainingPass& pass, const Stash& stash, bool swapped, TaskId& issue,
                    const Carried& before);
  void add(std::size_t tensor, double models, TaskId from, TaskId to);

  KernelEditor& editor_;
  const TaskGraph& graph_;
  const HalfStep& step_;
  CopyEngine engine_;
  TensorEditor tensors_;
  double swap_ = 0;
  double least_ = 0;
  std::map<Device, std::vector<Carried>> carried_;
  std::map<Device, TaskId> ends_;  // last call of the pass before
  std::vector<bool> done_;         // per recorded tensor
};

}  // namespace foretrace::editing
