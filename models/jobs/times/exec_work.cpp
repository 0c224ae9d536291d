#include "models/jobs/times/exec_work.h"

#include <algorithm>

namespace foretrace {
namespace {

void set_product(const Operator& op, WorkPass pass, OperatorWork& work) {
  const GemmShape& s = op.shape;
  const double e = work.number_bytes;
  const bool has_weights = op.type == OperatorType::product;
  const double input = s.batch * s.m * s.k / op.input_reuse * e;
  const double output = s.batch * s.m * s.n * e;
  // Filters of a depthwise convolution are more than those of one channel.
  const double second = (op.weights > 0 ? op.weights : s.batch * s.k * s.n) * e;
  work.kind = WorkKind::product;
  work.batch = s.batch;
  work.input_reuse = op.input_reuse;
  work.weight_bytes = has_weights ? second : 0;
  const double others = has_weights ? 0 : second;
  switch (pass) {
    case WorkPass::forward:
      work.m = s.m, work.n = s.n, work.k = s.k;
      work.input_bytes = input + others;
      work.output_bytes = output;
      return;
    case WorkPass::input_gradient:
      work.m = s.m, work.n = s.k, work.k = s.n;
      work.input_bytes = output + others;
      work.output_bytes = input;
      return;
    case WorkPass::weight_gradient:
      work.m = s.k, work.n = s.n, work.k = s.m;
      work.input_bytes = input + output;
      work.output_bytes = second;
      work.weight_bytes = 0;
      return;
  }
}

// Scores and their product with the values as one product whose inner size is that of both.
// Backward has five products for two.
void set_attention(const Operator& op, bool backward, OperatorWork& work) {
  const AttentionPart& part = op.attention;
  const double sizes = part.head_size + part.value_size;
  const double e = work.number_bytes;
  work.kind = WorkKind::attention;
  work.batch = op.shape.batch * part.heads;
  work.m = part.queries;
  work.n = part.keys_seen();
  work.k = sizes * (backward ? 2.5 : 1);
  const double factor = backward ? 2 : 1;
  const double queries = op.shape.batch * part.queries * part.heads;
  work.input_bytes =
      factor * e * (op.shape.batch * part.keys * part.key_heads * sizes + queries * part.head_size);
  work.output_bytes = factor * e * queries * part.value_size;
}

}  // namespace

OperatorWork work_of(const Operator& op, WorkPass pass, double number_bytes) {
  OperatorWork work;
  work.pass = pass;
  work.number_bytes = number_bytes;
  const bool backward = pass != WorkPass::forward;
  const double numbers = op.shape.batch * op.shape.m * op.shape.n;
  work.kernels = backward ? op.backward_kernels : op.forward_kernels;
  switch (op.type) {
    case OperatorType::product:
      work.kernels = 1;
      set_product(op, pass, work);
      return work;
    case OperatorType::batch_product:
      set_product(op, pass, work);
      // Both operands have gradients.
      if (backward) work.batch *= 2;
      return work;
    case OperatorType::attention: set_attention(op, backward, work); return work;
    case OperatorType::rows:
      work.numbers = numbers;
      work.input_bytes = numbers * (backward ? op.backward_bytes : 2 * number_bytes);
      return work;
    case OperatorType::elementwise:
    case OperatorType::gather:
      work.numbers = numbers;
      work.input_bytes = numbers * (backward ? op.backward_bytes : op.forward_bytes);
      return work;
    case OperatorType::enter:
    case OperatorType::leave:
    case OperatorType::dispatch:
    case OperatorType::combine:
    case OperatorType::recorded: work.kernels = 0; return work;
  }
  return work;
}

OperatorWork moving(double bytes, std::uint32_t kernels, double number_bytes) {
  OperatorWork work;
  work.number_bytes = number_bytes;
  work.kernels = kernels;
  work.numbers = bytes / (2 * number_bytes);  // read and written
  work.input_bytes = bytes;
  return work;
}

double live_bytes(const Operator& op, double number_bytes) {
  const OperatorWork work = work_of(op, WorkPass::forward, number_bytes);
  return work.kernels > 0 ? work.input_bytes + work.output_bytes : 0;
}

}  // namespace foretrace
