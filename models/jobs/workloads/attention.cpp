// The attention part of a layer: projections, positions, the core in one kernel or in many.
#include "models/jobs/workloads/operator_list.h"

namespace foretrace {
namespace {

struct Sizes {
  double queries = 0;  ///< numbers per token of all heads
  double keys = 0;
  double values = 0;
  double output = 0;
};

Sizes sizes_of(const TransformerSpec& spec) {
  const bool latent = spec.latent.key_rank > 0;
  const double value = latent ? spec.latent.value_size : spec.head_size;
  const double kv = latent ? spec.heads : spec.kv_heads;
  return {spec.heads * spec.head_size, kv * spec.head_size, kv * value, spec.heads * value};
}

AttentionPart part_of(const OperatorList& list, const TransformerSpec& spec, bool sees_all) {
  const bool latent = spec.latent.key_rank > 0;
  AttentionPart part;
  part.heads = spec.heads;
  part.key_heads = latent ? spec.heads : spec.kv_heads;
  part.queries = list.batch().length;
  part.keys = list.batch().keys;
  part.head_size = spec.head_size;
  part.value_size = latent ? spec.latent.value_size : spec.head_size;
  part.causal = spec.causal && list.batch().pass != Pass::decode;
  part.window = sees_all ? 0 : spec.window;
  return part;
}

// Low ranks are small and whole on every rank of a tensor group.
void add_latent_projections(OperatorList& list, const TransformerSpec& spec) {
  const LatentSpec& latent = spec.latent;
  const Sizes sizes = sizes_of(spec);
  if (latent.query_rank > 0) {
    list.product("query down", spec.hidden, latent.query_rank, Split::none);
    list.norm(spec, "query norm", latent.query_rank, Split::none);
  }
  list.product("key value down", spec.hidden, latent.key_rank + latent.rope_size, Split::none);
  list.norm(spec, "key value norm", latent.key_rank, Split::none);
  list.enter(spec.hidden);
  list.product("query up", latent.query_rank > 0 ? latent.query_rank : spec.hidden, sizes.queries,
               Split::columns);
  list.product("key value up", latent.key_rank,
               spec.heads * (spec.head_size - latent.rope_size + latent.value_size),
               Split::columns);
}

void add_projections(OperatorList& list, const TransformerSpec& spec) {
  const Sizes sizes = sizes_of(spec);
  list.enter(spec.hidden);
  const auto project = [&](std::string_view name, double outputs, bool keeps_input) {
    Operator& op = list.product(name, spec.hidden, outputs, Split::columns);
    // The input stays whole between ranks only as long as it is used; kept, it is divided.
    op.kept_bytes =
        keeps_input && list.trains() ? list.tokens() * spec.hidden * list.product_number() : 0;
    if (spec.attention_bias) op.weights += outputs;
  };
  if (list.kernels().packs_qkv) {
    project("query key value", sizes.queries + sizes.keys + sizes.values, true);
    return;
  }
  project("query", sizes.queries, true);
  project("key", sizes.keys, false);
  project("value", sizes.values, false);
}

void add_rotation(OperatorList& list, const TransformerSpec& spec) {
  if (spec.position != PositionKind::rotary) return;
  const Sizes sizes = sizes_of(spec);
  const double e = list.product_number();
  const bool one = list.kernels().fused_rope || list.kernels().compiled;
  // Not fused: halves turned and joined, two products, a sum.
  const Traffic traffic = one ? Traffic{2 * e, 2 * e, 1, 1} : Traffic{8 * e, 10 * e, 10, 12};
  list.elementwise("rope", sizes.queries + sizes.keys, Split::inside, traffic);
}

Operator batch_product(std::string_view name, const AttentionPart& part, const GemmShape& shape) {
  Operator op;
  op.attention = part;
  op.type = OperatorType::batch_product;
  op.split = Split::inside;
  op.name = name;
  op.shape = shape;
  op.backward_kernels = 2;
  op.is_core = true;
  return op;
}

// Scores of every pair go through memory: the product, softmax and dropout keep them.
void add_unfused_core(OperatorList& list, const TransformerSpec& spec, const AttentionPart& part) {
  const BatchShape& batch = list.batch();
  const Sizes sizes = sizes_of(spec);
  const double e = list.number();  // of the softmax
  const double product = list.product_number();
  const double matrices = batch.sequences * part.heads;
  const double rows = matrices * part.queries;
  const double pairs = rows * part.keys;
  const bool drops = spec.drops_out && list.kernels().drops_out && list.trains();

  const double all = sizes.queries + sizes.keys + sizes.values;
  // Views of three parts, each turned and made contiguous, and the buffer of the scores.
  list.elementwise("split heads", all, Split::inside, {2 * product, 3 * product, 8, 8});
  Operator scores =
      batch_product("query x key", part, {matrices, part.queries, part.keys, part.head_size});
  scores.kept_bytes = list.tokens() * (sizes.queries + sizes.keys) * product;
  list.add(scores);

  if (!list.kernels().fused_softmax) {
    Operator scale;
    scale.split = Split::inside;
    scale.name = "scale and mask";
    scale.shape = {1, rows, part.keys, 0};
    scale.forward_bytes = 5 * e;  // scaled, then added to the mask or chosen by it
    scale.backward_bytes = 4 * e;
    scale.forward_kernels = 2;
    scale.backward_kernels = 2;
    scale.is_core = true;
    list.add(scale);
  }
  Operator softmax;
  softmax.type = OperatorType::rows;
  softmax.split = Split::inside;
  softmax.name = "softmax";
  softmax.shape = {1, rows, part.keys, 0};
  softmax.rows_kind = OperatorKind::softmax;
  softmax.backward_bytes = 3 * e;
  softmax.kept_bytes = softmax.kept_core_bytes = pairs * e;
  softmax.keeps_result = true;
  softmax.is_core = true;
  list.add(softmax);

  if (drops) {
    Operator dropout;
    dropout.split = Split::inside;
    dropout.name = "attention dropout";
    dropout.shape = {1, rows, part.keys, 0};
    dropout.forward_bytes = dropout.backward_bytes = 2 * e + 1;
    dropout.kept_bytes = dropout.kept_core_bytes = pairs;
    dropout.keeps_result = true;
    dropout.is_core = true;
    list.add(dropout);
  }
  Operator context =
      batch_product("weights x value", part, {matrices, part.queries, part.value_size, part.keys});
  // What is cast for the product is kept as it was cast.
  context.kept_core_bytes = drops || product < e ? pairs * product : 0;
  context.kept_bytes = context.kept_core_bytes + list.tokens() * sizes.values * product;
  list.add(context);
  list.elementwise("join heads", sizes.output, Split::inside, {2 * product, 4 * product, 1, 2});
}

void add_fused_core(OperatorList& list, const TransformerSpec& spec, const AttentionPart& part) {
  const Sizes sizes = sizes_of(spec);
  Operator op;
  op.type = OperatorType::attention;
  op.split = Split::inside;
  op.name = "attention";
  op.shape.batch = list.batch().sequences;
  op.attention = part;
  op.forward_bytes = list.product_number();
  op.backward_kernels = 3;
  op.is_core = true;
  // Queries, keys, values, and the logarithm of each row's sum; the output is the next input.
  op.kept_bytes =
      list.tokens() *
      ((sizes.queries + sizes.keys + sizes.values) * list.product_number() + 4 * part.heads);
  list.add(op);
}

}  // namespace

void add_attention(OperatorList& list, const TransformerSpec& spec, bool sees_all) {
  const Sizes sizes = sizes_of(spec);
  list.norm(spec, "attention norm", spec.hidden, Split::sequence);
  if (spec.latent.key_rank > 0) {
    add_latent_projections(list, spec);
  } else {
    add_projections(list, spec);
  }
  add_rotation(list, spec);
  const AttentionPart part = part_of(list, spec, sees_all);
  const bool one_token = list.batch().pass == Pass::decode && list.kernels().fused_token_attention;
  if (list.kernels().attention == AttentionKernel::unfused && !one_token) {
    add_unfused_core(list, spec, part);
  } else {
    add_fused_core(list, spec, part);
  }
  Operator& output = list.product("attention output", sizes.output, spec.hidden, Split::rows);
  if (spec.has_bias) output.weights += spec.hidden;
  list.leave(spec.hidden);
  add_residual(list, spec, "attention residual");
}

}  // namespace foretrace
