#include "models/jobs/workloads/operator_list.h"

#include <algorithm>

namespace foretrace {

Operator& OperatorList::add(Operator op) {
  if (!trains()) {
    op.kept_bytes = 0;
    op.kept_core_bytes = 0;
  }
  operators_.push_back(op);
  return operators_.back();
}

Operator& OperatorList::product(std::string_view name, double inputs, double outputs, Split split) {
  Operator op;
  op.type = OperatorType::product;
  op.split = split;
  op.name = name;
  op.shape = {1, tokens(), outputs, inputs};
  op.backward_kernels = 2;
  op.kept_bytes = tokens() * inputs * product_number();
  op.keeps_whole_input = kernels_.keeps_gathered_inputs;
  op.weights = inputs * outputs;
  return add(op);
}

Operator& OperatorList::elementwise(std::string_view name, double columns, Split split,
                                    const Traffic& traffic) {
  Operator op;
  op.type = OperatorType::elementwise;
  op.split = split;
  op.name = name;
  op.shape = {1, tokens(), columns, 0};
  op.forward_bytes = traffic.forward;
  op.backward_bytes = traffic.backward;
  op.forward_kernels = traffic.forward_kernels;
  op.backward_kernels = traffic.backward_kernels;
  return add(op);
}

// To fp32 (2 + 4 bytes), squares and their mean (4 + 4), times the root (4 + 4), back (4 + 2),
// times the scale (2 + 2); backward about twice that.
Operator& OperatorList::norm_in_pieces(std::string_view name, double columns, Split split) {
  Operator& op = elementwise(name, columns, split, {32, 64, 7, 12});
  op.kept_bytes = trains() ? tokens() * columns * (number() + 4) : 0;
  op.weights = columns;
  return op;
}

// Backward reads the gradient and the input twice (statistics, then the result) and writes one.
Operator& OperatorList::norm(const TransformerSpec& spec, std::string_view name, double columns,
                             Split split) {
  Operator op;
  op.type = OperatorType::rows;
  op.split = split;
  op.name = name;
  op.shape = {1, tokens(), columns, 0};
  const bool rms = spec.norm == NormKind::rms_norm;
  if (rms && !kernels_.fused_norm && !kernels_.compiled)
    return norm_in_pieces(name, columns, split);
  // Kernels of training libraries; those of serving have a fit of their own.
  op.rows_kind = rms && !trains() ? OperatorKind::rms_norm : OperatorKind::layer_norm;
  op.backward_bytes = 5 * number();
  op.backward_kernels = rms ? 2 : 3;  // input, scale, bias
  op.kept_bytes = tokens() * columns * number();
  op.weights = (rms ? 1 : 2) * columns;
  return add(op);
}

void OperatorList::enter(double columns) {
  Operator op;
  op.type = OperatorType::enter;
  op.name = "enter";
  op.forward_kernels = 0;
  op.backward_kernels = 0;
  op.message_bytes = tokens() * columns * number();
  add(op);
}

void OperatorList::leave(double columns) {
  Operator op;
  op.type = OperatorType::leave;
  op.name = "leave";
  op.forward_kernels = 0;
  op.backward_kernels = 0;
  op.message_bytes = tokens() * columns * number();
  add(op);
}

// In numbers per element: dropout reads and writes one and writes a mask of one byte; the sum reads
// two and writes one; backward the sum of two gradients, the mask applied, the bias summed up.
void add_residual(OperatorList& list, const TransformerSpec& spec, std::string_view name) {
  const KernelSet& kernels = list.kernels();
  const double e = list.number();
  const bool drops = spec.drops_out && kernels.drops_out && list.trains();
  const bool one = kernels.fused_dropout_add || kernels.compiled;
  const double bias = spec.has_bias ? e : 0;
  Traffic traffic{3 * e, 3 * e + bias, 1, static_cast<std::uint16_t>(spec.has_bias ? 2 : 1)};
  if (drops) {
    traffic.forward = one ? 3 * e + 1 : 5 * e + 1;
    traffic.backward += 2 * e + 1;
    traffic.forward_kernels = one ? 1 : 2;
    ++traffic.backward_kernels;
  }
  if (kernels.compiled) {
    // The norm that follows reads what this kernel has at hand.
    traffic.forward -= e;
    traffic.backward -= e;
  }
  Operator& op = list.elementwise(name, spec.hidden, Split::sequence, traffic);
  if (drops) op.kept_bytes = list.tokens() * spec.hidden;
  op.keeps_result = true;  // the mask
}

}  // namespace foretrace
