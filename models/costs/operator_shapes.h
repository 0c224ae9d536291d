// What an operator computes, from the recorded shapes of its inputs: products, FLOPs, numbers
// moved.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/costs/kernel_class.h"

namespace foretrace {

using Dims = std::vector<std::int64_t>;

/// The recorded inputs of an operator: `tensors` has one entry per input, a list of tensors has
/// several shapes, a scalar none.
struct OperatorInputs {
  std::vector<std::vector<Dims>> tensors;
  /// The only shape of input i, or null.
  [[nodiscard]] const Dims* shape(std::size_t i) const;
};
/// Parses the JSON text of "Input Dims": [[32, 64], [64, 8], [], []]. Empty if it is anything else.
[[nodiscard]] OperatorInputs parse_inputs(std::string_view dims_json);

/// batch products of an m x k with a k x n matrix.
struct GemmShape {
  double batch = 1;
  double m = 0;
  double n = 0;
  double k = 0;
  [[nodiscard]] double flops() const { return 2 * batch * m * n * k; }
  [[nodiscard]] double numbers() const { return batch * (m * k + k * n + m * n); }
};

/// What is known about the work of one call; -1: not known, and never taken for nothing.
struct WorkAmount {
  double flops = -1;
  double numbers = -1;  ///< read + written, as numbers (not bytes)
  double output = -1;   ///< numbers of the largest tensor involved, as a stand-in for the output
  std::optional<GemmShape> gemm;
  [[nodiscard]] bool known() const { return flops >= 0 || numbers >= 0; }
};

/// The work of an operator ("aten::mm") given its inputs, for a kernel of this class: an
/// elementwise helper kernel of a convolution does not get the convolution's work.
[[nodiscard]] WorkAmount amount_of(std::string_view operator_name, const OperatorInputs& inputs,
                                   KernelClass kernel_class);

}  // namespace foretrace
