// Gradients of a training pass: how large they are, and the kernel after which each is ready.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/kernels/update_phase.h"
#include "models/editing/tensors/training_pass.h"

namespace foretrace::editing {

/// The gradient of one parameter tensor.
struct Gradient {
  double numbers = 0;
  TaskId ready{};  ///< the backward kernel after which it is complete; has a call of its own
};

/// How the sizes were found.
enum class GradientEvidence : std::uint8_t {
  accumulated,  ///< kernels that add each gradient to its tensor, with recorded shapes
  weights,      ///< shapes of the weights that forward kernels read
  update,       ///< numbers that the optimizer updates, spread over the backward pass
  given         ///< a count that the user gives, spread over the backward pass
};
[[nodiscard]] std::string_view to_string(GradientEvidence evidence);

struct Gradients {
  std::vector<Gradient> list;  ///< in the order in which they are ready
  GradientEvidence evidence = GradientEvidence::weights;
  [[nodiscard]] double numbers() const;
};

/// Parameter tensors that a forward operator reads: sizes in numbers. Empty for operators without.
[[nodiscard]] std::vector<double> parameter_sizes(std::string_view operator_name,
                                                  const OperatorInputs& inputs);

/// The parameter tensors that one of some forward kernels reads.
struct WeightUse {
  std::size_t kernel = 0;  ///< index among the kernels
  std::vector<double> sizes;
};
[[nodiscard]] std::vector<WeightUse> weight_uses(const KernelEditor& editor,
                                                 std::span<const TaskId> forward);

/// Finds the gradients of passes of one graph.
class GradientFinder {
 public:
  explicit GradientFinder(const KernelEditor& editor);
  /// `parameters` > 0: this many numbers, whatever is recorded. Nothing known: an empty list.
  [[nodiscard]] Gradients of(const TrainingPass& pass, double parameters = 0) const;

 private:
  [[nodiscard]] Update update_of(const TrainingPass& pass) const;

  const KernelEditor& editor_;
  std::vector<Update> updates_;
};

/// Parameters of the model on one device, in numbers: from the update's operators, else the
/// larger of recorded weights, of 4 bytes each, and weights that forward passes read, since either
/// may show a part only. 0: nothing tells.
[[nodiscard]] double count_parameters(const KernelEditor& editor);

}  // namespace foretrace::editing
