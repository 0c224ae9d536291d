// Gradients of a training pass: how large they are, and the kernel after which each is ready.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/parameters/model_state.h"
#include "models/editing/tensors/training_pass.h"

namespace foretrace::editing {

/// The gradient of one parameter tensor.
struct Gradient {
  double numbers = 0;
  TaskId ready{};  ///< the backward kernel after which it is complete; has a call of its own
};

/// How it was found where they are ready.
enum class GradientPlaces : std::uint8_t {
  accumulated,  ///< kernels that add each gradient to its tensor, with recorded shapes
  weights,      ///< the backward pass undoes the forward kernels that read weights in turn
  partly,       ///< the same, but other gradients are spread over the backward pass
  spread        ///< all are spread over the backward pass
};
[[nodiscard]] std::string_view to_string(GradientPlaces places);

struct Gradients {
  std::vector<Gradient> list;  ///< in the order in which they are ready
  GradientPlaces places = GradientPlaces::weights;
  std::string_view counted = {};  ///< "by the shapes of what one update touches"
  [[nodiscard]] double numbers() const;
};

/// Numbers of a parameter that a forward kernel is the first to read.
struct ReadSize {
  std::size_t kernel = 0;  ///< index among the forward kernels
  double size = 0;
};

/// Finds the gradients of passes of one graph: as many as the table of parameters says of the
/// device, without those that are not trained.
class GradientFinder {
 public:
  explicit GradientFinder(const KernelEditor& editor);
  /// `parameters` > 0: this many numbers, whatever is recorded. Nothing known: an empty list.
  [[nodiscard]] Gradients of(const TrainingPass& pass, double parameters = 0) const;

 private:
  [[nodiscard]] std::vector<ReadSize> trained_by(const TrainingPass& pass) const;

  const KernelEditor& editor_;
  std::shared_ptr<const ParameterTable> table_;
  std::map<DeviceOfRank, ParameterCount> counts_;
  std::multimap<TaskId, ParameterId> read_by_;
};

}  // namespace foretrace::editing
