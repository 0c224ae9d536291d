// Each formula with where it is from.
#include "models/hardware/costs/work_formulas.h"

#include <algorithm>

namespace foretrace {
namespace {

WorkAmount amount(double flops, double numbers, double output) {
  WorkAmount work;
  work.flops = flops;
  work.numbers = numbers;
  work.output = output;
  return work;
}

}  // namespace

// One multiplication and one addition per m, n and k; every operand once.
WorkAmount gemm_work(const GemmShape& shape) {
  WorkAmount work = amount(shape.flops(), shape.numbers(), shape.batch * shape.m * shape.n);
  work.gemm = shape;
  return work;
}

// Every output position of every filter sums over its window and the channels of its group.
WorkAmount convolution_work(const ConvolutionShape& shape) {
  const double outputs = shape.batch * shape.output_channels * shape.output_pixels;
  const double per_output =
      shape.input_channels / std::max(shape.groups, 1.0) * shape.kernel_pixels;
  const double inputs = shape.batch * shape.input_channels * shape.input_pixels;
  const double weights = shape.output_channels * per_output;
  return amount(2 * outputs * per_output, inputs + weights + outputs, std::max(inputs, outputs));
}

// Two products, Q K^T and P V: 4 FLOPs per pair and head dimension. Backward recomputes the scores
// and has four products more: 5 / 2 of forward (FlashAttention, NeurIPS 2022). Fused, only Q, K, V
// and the output move, and backward their gradients too; eager code writes and reads the scores
// and the weights of every pair, forward and backward.
WorkAmount attention_work(const AttentionShape& shape, Direction direction) {
  const bool backward = direction == Direction::backward;
  const double all_pairs = shape.batch * shape.heads * shape.queries * shape.keys;
  const double pairs = shape.causal ? all_pairs / 2 : all_pairs;
  const double query = shape.batch * shape.heads * shape.queries * shape.head_dim;
  const double key = shape.batch * shape.key_heads * shape.keys * shape.head_dim;
  const double operands = (2 * query + 2 * key) * (backward ? 2 : 1);
  const double scores = shape.fused ? 0 : 4 * all_pairs * (backward ? 2 : 1);
  return amount(4 * pairs * shape.head_dim * (backward ? 2.5 : 1), operands + scores, query);
}

// Statistics and result: about 8 operations per number. Backward reads gradient and input and
// writes the input's gradient; softmax reads its output instead of its input.
WorkAmount row_work(OperatorKind kind, double rows, double columns, Direction direction) {
  const double numbers = rows * columns;
  if (direction == Direction::backward) return amount(12 * numbers, 3 * numbers, numbers);
  WorkAmount work = amount(8 * numbers, numbers_per_element(kind) * numbers, numbers);
  work.rows = RowWork{kind, rows, columns};
  return work;
}

WorkAmount elementwise_work(double numbers, double read, double written) {
  return amount(numbers, (read + written) * numbers, numbers);
}

// The row and its copy; an index has 8 bytes, next to nothing beside a row.
WorkAmount embedding_work(double indices, double width) {
  WorkAmount work = amount(0, 2 * indices * width, indices * width);
  work.rows = RowWork{OperatorKind::embedding, indices, width};
  return work;
}

// SGD: p, g -> p. Momentum: p, g, b -> p, b. Adam: p, g, m, v -> p, m, v, about 12 operations.
WorkAmount update_work(UpdateRule rule, double parameters) {
  switch (rule) {
    case UpdateRule::sgd: return amount(2 * parameters, 3 * parameters, parameters);
    case UpdateRule::sgd_momentum: return amount(4 * parameters, 5 * parameters, parameters);
    case UpdateRule::adam: return amount(12 * parameters, 7 * parameters, parameters);
  }
  return {};
}

}  // namespace foretrace
