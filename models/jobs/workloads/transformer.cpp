#include "models/jobs/workloads/transformer.h"

#include <algorithm>
#include <array>

#include "models/jobs/workloads/layered.h"
#include "models/jobs/workloads/operator_list.h"

namespace foretrace {
namespace {

bool has_experts(const TransformerSpec& spec, std::uint32_t layer) {
  const ExpertSpec& experts = spec.experts;
  if (experts.count == 0 || layer < experts.first_dense) return false;
  return experts.every <= 1 || (layer + 1) % experts.every == 0;
}

bool sees_all(const TransformerSpec& spec, std::uint32_t layer) {
  if (!(spec.window > 0)) return true;
  return spec.full_every > 0 && (layer + 1) % spec.full_every == 0;
}

Block embedding_block(const TransformerSpec& spec, const BatchShape& batch,
                      const KernelSet& kernels) {
  OperatorList list(batch, kernels);
  const double e = batch.number_bytes;
  Operator table;
  table.type = OperatorType::gather;
  table.split = Split::columns;
  table.name = "embedding";
  table.shape = {1, batch.tokens(), spec.hidden, 0};
  table.forward_bytes = 2 * e;
  table.backward_bytes = 3 * e;
  table.weights = spec.vocabulary * spec.hidden;
  list.add(table);
  list.leave(spec.hidden);
  if (spec.position == PositionKind::learned) {
    list.elementwise("positions", spec.hidden, Split::sequence, {3 * e, e, 1, 1}).weights =
        spec.positions * spec.hidden;
  }
  if (spec.drops_out && kernels.drops_out && list.trains()) {
    Operator& dropout = list.elementwise("embedding dropout", spec.hidden, Split::sequence,
                                         {2 * e + 1, 2 * e + 1, 1, 1});
    dropout.kept_bytes = batch.tokens() * spec.hidden;
    dropout.keeps_result = true;
  }
  return {"embedding", BlockRole::embedding, list.take(), 8 * batch.tokens()};
}

Block layer_block(const TransformerSpec& spec, const BatchShape& batch, const KernelSet& kernels,
                  std::uint32_t layer) {
  OperatorList list(batch, kernels);
  const bool all = sees_all(spec, layer);
  const bool experts = has_experts(spec, layer);
  add_attention(list, spec, all);
  if (experts) {
    add_experts(list, spec);
  } else {
    add_feed_forward(list, spec, spec.ffn);
  }
  std::string name = experts ? "layer with experts" : "layer";
  if (!all) name += ", window";
  return {std::move(name), BlockRole::layer, list.take(),
          batch.tokens() * spec.hidden * batch.number_bytes};
}

// Logits of all tokens where losses are asked for, of the last ones where text is generated.
Block head_block(const TransformerSpec& spec, const BatchShape& batch, const KernelSet& kernels) {
  BatchShape last = batch;
  if (batch.pass == Pass::prefill && spec.causal) last.length = 1;
  if (batch.pass == Pass::training && !spec.causal) last.length *= kernels.head_share;
  OperatorList list(last, kernels);
  list.norm(spec, "final norm", spec.hidden, Split::sequence);
  if (spec.has_pooler) {
    const double e = batch.number_bytes;
    list.product("head dense", spec.hidden, spec.hidden, Split::none);
    list.elementwise("head activation", spec.hidden, Split::none, {2 * e, 4 * e, 1, 2});
    list.norm(spec, "head norm", spec.hidden, Split::none);
  }
  list.enter(spec.hidden);
  const double outputs = spec.outputs > 0 ? spec.outputs : spec.vocabulary;
  Operator& logits = list.product("logits", spec.hidden, outputs, Split::columns);
  logits.keeps_precision = true;
  if (list.trains()) {
    Operator& loss = list.elementwise("loss", outputs, Split::inside,
                                      {kernels.loss_forward_bytes, kernels.loss_backward_bytes,
                                       static_cast<std::uint16_t>(kernels.compiled ? 3 : 8),
                                       static_cast<std::uint16_t>(kernels.compiled ? 2 : 5)});
    loss.kept_bytes = last.tokens() * outputs * kernels.loss_kept_bytes;
    loss.keeps_result = true;
    loss.divided_kept = kernels.divided_loss_kept_bytes / std::max(kernels.loss_kept_bytes, 1e-9);
  }
  return {"head", BlockRole::head, list.take(), last.tokens() * spec.hidden * batch.number_bytes};
}

std::uint32_t add_block(Workload& workload, Block block) {
  for (std::uint32_t i = 0; i < workload.blocks.size(); ++i) {
    if (workload.blocks[i].name == block.name) return i;
  }
  workload.blocks.push_back(std::move(block));
  return static_cast<std::uint32_t>(workload.blocks.size() - 1);
}

void append(Workload& workload, std::uint32_t block) {
  if (!workload.order.empty() && workload.order.back().block == block) {
    ++workload.order.back().count;
  } else {
    workload.order.push_back({block, 1});
  }
}

}  // namespace

Workload build_transformer(const TransformerSpec& spec, const BatchShape& batch,
                           const KernelSet& kernels) {
  if (spec.layered != nullptr) return build_layered(*spec.layered, batch, kernels);
  Workload workload;
  workload.ties_embeddings = spec.ties_embeddings;
  append(workload, add_block(workload, embedding_block(spec, batch, kernels)));
  // Blocks by what distinguishes layers: experts, and how far attention sees.
  std::array<std::uint32_t, 4> known{};
  known.fill(UINT32_MAX);
  for (std::uint32_t layer = 0; layer < spec.layers; ++layer) {
    const std::size_t kind =
        (has_experts(spec, layer) ? 2U : 0U) + (sees_all(spec, layer) ? 1U : 0U);
    if (known[kind] == UINT32_MAX) {
      known[kind] = add_block(workload, layer_block(spec, batch, kernels, layer));
    }
    append(workload, known[kind]);
  }
  append(workload, add_block(workload, head_block(spec, batch, kernels)));
  return workload;
}

}  // namespace foretrace
