// What one call computes and moves, by shape: the formulas behind every FLOP and byte count.
#pragma once

#include <optional>

#include "models/hardware/catalogue/gemm_shape.h"
#include "models/hardware/catalogue/operator_fit.h"

namespace foretrace {

/// A row operator for which constants may have been fitted: `rows` rows of `columns` numbers.
struct RowWork {
  OperatorKind kind = OperatorKind::add;
  double rows = 0;
  double columns = 0;
};

/// What is known about the work of one call; -1: not known, and never taken for nothing.
struct WorkAmount {
  double flops = -1;
  double numbers = -1;  ///< read + written, as numbers (not bytes)
  double output = -1;   ///< numbers of the largest tensor involved, as a stand-in for the output
  std::optional<GemmShape> gemm = {};
  std::optional<RowWork> rows = {};
  [[nodiscard]] bool known() const { return flops >= 0 || numbers >= 0; }
};

enum class Direction : unsigned char { forward, backward };

[[nodiscard]] WorkAmount gemm_work(const GemmShape& shape);

/// Pixels are positions: height x width (x depth).
struct ConvolutionShape {
  double batch = 1;
  double input_channels = 0;
  double output_channels = 0;
  double groups = 1;
  double input_pixels = 0;
  double output_pixels = 0;
  double kernel_pixels = 0;
};
/// Forward, or one of both gradients: the same sums in another order.
[[nodiscard]] WorkAmount convolution_work(const ConvolutionShape& shape);

struct AttentionShape {
  double batch = 1;
  double heads = 0;
  double key_heads = 0;  ///< fewer than heads: grouped queries
  double queries = 0;
  double keys = 0;
  double head_dim = 0;
  bool causal = false;  ///< half of the pairs
  bool fused = true;    ///< false: scores and weights go through memory, as in eager code
};
[[nodiscard]] WorkAmount attention_work(const AttentionShape& shape, Direction direction);

/// Layer norm and RMS norm: every row by its own statistics. Softmax the same.
[[nodiscard]] WorkAmount row_work(OperatorKind kind, double rows, double columns,
                                  Direction direction);
/// `read` tensors and `written` ones of this many numbers.
[[nodiscard]] WorkAmount elementwise_work(double numbers, double read, double written);
/// Gathers (or adds up, backward) one row of the table per index.
[[nodiscard]] WorkAmount embedding_work(double indices, double width);

enum class UpdateRule : unsigned char { sgd, sgd_momentum, adam };
/// Update of parameters: reads and writes parameter and state, reads the gradient.
[[nodiscard]] WorkAmount update_work(UpdateRule rule, double parameters);

}  // namespace foretrace
