// What an operator computes, from the recorded shapes of its inputs: products, FLOPs, numbers
// moved.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "models/hardware/costs/work_formulas.h"
#include "models/hardware/kernels/kernel_class.h"

namespace foretrace {

using Dims = std::vector<std::int64_t>;
/// How many numbers a tensor of these sizes has.
[[nodiscard]] double element_count(const Dims& dims);

/// The recorded inputs of an operator: `tensors` has one entry per input, a list of tensors has
/// several shapes, a scalar none.
struct OperatorInputs {
  std::vector<std::vector<Dims>> tensors;
  /// The only shape of input i, or null.
  [[nodiscard]] const Dims* shape(std::size_t i) const;
};
/// Parses the JSON text of "Input Dims": [[32, 64], [64, 8], [], []]. Empty if it is anything else.
[[nodiscard]] OperatorInputs parse_inputs(std::string_view dims_json);
/// The type of every input: ["float", "long int", ...]; empty where the trace records none.
[[nodiscard]] std::vector<std::string_view> input_types(std::string_view json);

/// The work of an operator ("aten::mm") given its inputs, for a kernel of this class: an
/// elementwise helper kernel of a convolution does not get the convolution's work.
[[nodiscard]] WorkAmount amount_of(std::string_view operator_name, const OperatorInputs& inputs,
                                   KernelClass kernel_class);

/// The same for an operator that reads each of its inputs once: arithmetic, activations, copies,
/// norms, sums.
[[nodiscard]] WorkAmount elementwise_amount(std::string_view operator_name,
                                            const OperatorInputs& inputs);

/// Sizes of convolutions' outputs, which stride and padding decide and no input shape tells: learnt
/// from the gradients that arrive in the backward pass of the same run.
class ConvolutionOutputs {
 public:
  void learn(std::string_view operator_name, const OperatorInputs& inputs);
  /// The work of a forward convolution whose output is known; nothing known otherwise.
  [[nodiscard]] WorkAmount amount(std::string_view operator_name,
                                  const OperatorInputs& inputs) const;

 private:
  std::map<std::pair<Dims, Dims>, Dims> outputs_;  ///< input and weight -> output
};

}  // namespace foretrace
