// The feed-forward part of a layer, dense or with experts.
#include <algorithm>

#include "models/jobs/workloads/expert_load.h"
#include "models/jobs/workloads/operator_list.h"

namespace foretrace {
namespace {

// Reads one (gated: two) and writes one number; backward reads the gradient and the inputs and
// writes as many gradients. A bias that the activation adds is summed up backward.
Traffic activation_traffic(const OperatorList& list, const TransformerSpec& spec) {
  const double e = list.product_number();
  const KernelSet& kernels = list.kernels();
  if (is_gated(spec.activation)) {
    const bool one = kernels.fused_bias_activation || kernels.compiled;
    return one ? Traffic{3 * e, 5 * e, 1, 1} : Traffic{5 * e, 8 * e, 2, 4};
  }
  const bool one = kernels.fused_bias_activation || kernels.compiled;
  const bool chain = !one && spec.activation == Activation::gelu_tanh;
  const double steps = chain ? kernels.activation_kernels : 1;
  Traffic traffic{2 * e * steps, 3 * e * (steps > 1 ? steps : 1), 1, 1};
  traffic.forward_kernels = static_cast<std::uint16_t>(steps);
  traffic.backward_kernels = static_cast<std::uint16_t>(steps);
  if (spec.has_bias) {
    traffic.backward += e;
    ++traffic.backward_kernels;
  }
  return traffic;
}

void add_activation(OperatorList& list, const TransformerSpec& spec, double ffn) {
  const bool gated = is_gated(spec.activation);
  Operator& op = list.elementwise("activation", ffn, Split::inside, activation_traffic(list, spec));
  op.kept_bytes = list.trains() ? list.tokens() * ffn * (gated ? 2 : 1) * list.product_number() : 0;
}

void add_dense(OperatorList& list, const TransformerSpec& spec, double ffn) {
  const bool gated = is_gated(spec.activation);
  list.enter(spec.hidden);
  if (gated && !list.kernels().packs_qkv) {
    // Two products of the same input, which is kept once.
    list.product("feed forward gate", spec.hidden, ffn, Split::columns);
    Operator& second = list.product("feed forward up", spec.hidden, ffn, Split::columns);
    second.kept_bytes = 0;
  } else {
    Operator& up =
        list.product("feed forward up", spec.hidden, gated ? 2 * ffn : ffn, Split::columns);
    if (spec.has_bias) up.weights += ffn;
  }
  add_activation(list, spec, ffn);
  Operator& down = list.product("feed forward down", ffn, spec.hidden, Split::rows);
  if (spec.has_bias) down.weights += spec.hidden;
  list.leave(spec.hidden);
}

// Copies of this batch's tokens, the same number for each expert that is reached, by this batch or
// by another of those that share the experts.
Operator expert_product(const OperatorList& list, const ExpertSpec& experts, std::string_view name,
                        double inputs, double outputs) {
  Operator op;
  op.type = OperatorType::product;
  op.name = name;
  const double reached =
      reached_experts(experts, list.tokens() * list.batch().expert_batches, list.trains());
  op.shape = {reached, list.tokens() * experts.top_k / reached, outputs, inputs};
  op.backward_kernels = 2;
  op.kept_bytes = list.tokens() * experts.top_k * inputs * list.product_number();
  op.weights = experts.count * inputs * outputs;
  op.is_expert = true;
  return op;
}

Operator exchange(const OperatorList& list, const TransformerSpec& spec, OperatorType type) {
  Operator op;
  op.type = type;
  op.name = type == OperatorType::dispatch ? "dispatch" : "combine";
  op.forward_kernels = op.backward_kernels = 0;
  op.shape.batch = spec.experts.top_k;
  op.message_bytes = list.tokens() * spec.experts.top_k * spec.hidden * list.number();
  return op;
}

}  // namespace

void add_feed_forward(OperatorList& list, const TransformerSpec& spec, double ffn) {
  list.norm(spec, "feed forward norm", spec.hidden, Split::sequence);
  add_dense(list, spec, ffn);
  add_residual(list, spec, "feed forward residual");
}

void add_experts(OperatorList& list, const TransformerSpec& spec) {
  const ExpertSpec& experts = spec.experts;
  const double e = list.number();
  const bool gated = is_gated(spec.activation);
  const double copies = experts.top_k;
  list.norm(spec, "feed forward norm", spec.hidden, Split::sequence);
  Operator& router = list.product("router", spec.hidden, experts.count, Split::sequence);
  router.keeps_precision = true;
  list.elementwise("route", experts.count, Split::sequence, {12, 12, 6, 6});
  list.elementwise("permute", copies * spec.hidden, Split::sequence, {2 * e, 2 * e, 2, 2});
  list.add(exchange(list, spec, OperatorType::dispatch));

  list.add(expert_product(list, experts, "experts up", spec.hidden,
                          gated ? 2 * experts.ffn : experts.ffn))
      .split = Split::columns;
  Operator& activation = list.elementwise("experts activation", copies * experts.ffn, Split::inside,
                                          activation_traffic(list, spec));
  activation.is_expert = true;
  activation.kept_bytes =
      list.trains() ? list.tokens() * copies * experts.ffn * (gated ? 2 : 1) * list.product_number()
                    : 0;
  list.add(expert_product(list, experts, "experts down", experts.ffn, spec.hidden)).split =
      Split::rows;

  list.add(exchange(list, spec, OperatorType::combine));
  list.elementwise("unpermute", copies * spec.hidden, Split::sequence, {2 * e, 3 * e, 2, 2});
  if (experts.shared_ffn > 0) add_dense(list, spec, experts.shared_ffn);
  add_residual(list, spec, "feed forward residual");
}

}  // namespace foretrace
