// Weights of what-ifs that make them smaller: recorded tensors, and rows of the table.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "models/editing/parameters/model_state.h"
#include "models/editing/tensors/kernel_calls.h"
#include "models/editing/tensors/training_pass.h"
#include "sim/edit/tensors.h"

namespace foretrace::editing {

/// What makes a weight smaller.
enum class Fewer : std::uint8_t {
  numbers,  ///< of it are left: of its gradient and states, too
  bytes     ///< store each of them; gradients and states stay
};

/// Adds up what the weights of one step take before and after, then shrinks the recorded ones.
class WeightTensors {
 public:
  WeightTensors(KernelEditor& editor, Fewer fewer)
      : editor_(editor), fewer_(fewer), calls_(editor, editor.kernels()) {}

  /// The weight that the call of this forward kernel reads had `before` bytes and takes `after`, in
  /// the kernel's precision; where it is stored in another one, as autocast does, in that.
  /// What is said of other kernels of the call says nothing new.
  void add(TaskId kernel, double before, double after);
  /// Rows of the table get what is left of them. Weights that lie on the device throughout lose what
  /// the step with most of them saves. Those of a device keep their size, and the note says so, if
  /// the step reads more than is recorded: then it reads a weight more than once, or not all are
  /// recorded. Nothing without recorded weights.
  [[nodiscard]] std::string edit(TensorEditor& tensors) const;
  /// Of all parameters of the device with most, those that are left.
  [[nodiscard]] double numbers_left() const;

 private:
  struct Bytes {
    double before = 0;
    double after = 0;
  };
  struct Read {
    TaskId call{};  ///< its first kernel
    Bytes bytes;
  };
  [[nodiscard]] std::map<DeviceOfRank, Bytes> largest_step(const ParameterEditor& stored) const;

  void edit(ParameterEditor& parameters) const;

  KernelEditor& editor_;
  Fewer fewer_;
  KernelCalls calls_;
  std::map<TaskId, double> shares_;  // that are left, by the first kernel of a call
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::vector<Read>> by_step_;
};

}  // namespace foretrace::editing
