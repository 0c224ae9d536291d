// Recorded weights of what-ifs that store them in fewer bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "models/editing/tensors/training_pass.h"
#include "sim/edit/tensors.h"

namespace foretrace::editing {

/// Adds up what the weights of one step take before and after, then shrinks the recorded ones.
class WeightTensors {
 public:
  explicit WeightTensors(const KernelEditor& editor) : editor_(editor) {}

  /// The weight that this forward kernel reads had `before` bytes and takes `after`.
  void add(TaskId kernel, double before, double after);
  /// Weights that lie on the device throughout lose what the step with most of them saves. Those of
  /// a device keep their size, and the note says so, if the step reads more than is recorded: then
  /// it reads a weight more than once, or not all are recorded. Nothing without recorded weights.
  [[nodiscard]] std::string edit(TensorEditor& tensors) const;

 private:
  struct Bytes {
    double before = 0;
    double after = 0;
  };
  [[nodiscard]] std::map<DeviceOfRank, Bytes> largest_step() const;

  const KernelEditor& editor_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, Bytes> by_step_;
};

}  // namespace foretrace::editing
