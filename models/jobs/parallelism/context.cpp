// Context parallelism: every rank has a part of the positions of each sequence; attention needs the
// keys and values of the others.
//
//   positions 0..s  ->  rank r: s / c of them; keys and values go round, are gathered, or heads are
//   exchanged for positions (Ulysses)
//
// paper: Liu et al., Ring Attention, 2023;
//   Jacobs et al., DeepSpeed Ulysses, 2023;
//   Dubey et al., The Llama 3 Herd of Models, 2024 (all-gather)
// assumes: causal work is balanced by giving each rank an early and a late part, where stated
// law: what travels has the bytes of an activation's number; gradients of a ring no fewer
// ignores: that the kernels of a ring's pieces are smaller
// calibrate: nothing; collectives come from the cluster
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/jobs/parallelism/plan.h"

namespace foretrace::parallelism::context_parts {
namespace {

Status check(const ParallelPlan& plan, const TransformerSpec& spec) {
  if (plan.context <= 1 || plan.context_kind != ContextKind::all_to_all) return ok_status();
  const double heads = spec.heads / plan.tensor;
  if (std::fmod(heads, plan.context) == 0) return ok_status();
  return Error{ErrorCode::bad_config,
               fmt::format("context: got {}, expected a divisor of the {} heads of a rank",
                           plan.context, heads)};
}

// Keys and values of all positions, in and out of a rank.
double key_values(const Operator& op, double heads) {
  const AttentionPart& part = op.attention;
  return op.shape.batch * part.keys * heads * (part.head_size + part.value_size);
}

// Heads instead of positions while attention runs.
void exchange_heads(Operator& op, const ParallelPlan& plan) {
  AttentionPart& part = op.attention;
  const double c = plan.context;
  const double query =
      op.shape.batch * part.queries * part.heads * (part.head_size + part.value_size);
  const double bytes = (key_values(op, part.key_heads) + query) * op.forward_bytes / plan.tensor;
  op.forward = {CollectiveKind::all_to_all, Axis::context, Overlap::none, bytes / c};
  op.backward = op.forward;
  part.heads /= c;
  part.key_heads = std::max(1.0, part.key_heads / c);
}

// What merges the results of pieces, and their gradients.
Operator merge(const Operator& whole, const ParallelPlan& plan, double keys) {
  const ContextRing& ring = plan.context_ring;
  const AttentionPart& part = whole.attention;
  const double c = plan.context;
  Operator op;
  op.name = "merge pieces";
  op.split = Split::inside;
  op.is_core = true;
  op.shape = {whole.shape.batch, part.queries / c, part.heads * part.value_size, 0};
  const double outputs = op.shape.batch * op.shape.m * op.shape.n;
  const double share = keys / c / outputs;
  op.forward_bytes = c * (ring.forward_outputs + share * ring.forward_keys);
  op.backward_bytes = c * (ring.backward_outputs + share * ring.backward_keys);
  op.forward_kernels = op.backward_kernels =
      static_cast<std::uint16_t>(std::min<std::uint32_t>(plan.context, UINT16_MAX));
  return op;
}

// All keys that the queries of a rank see, in one piece or after its own.
void see_keys(Operator& op, const ParallelPlan& plan) {
  AttentionPart& part = op.attention;
  // The last rank has its own positions, half of them masked, and all before them.
  const double all = part.keys_seen();
  const double seen = plan.balances_context || !part.causal ? all : all * (2 - 1.0 / plan.context);
  part.causal = false;
  part.keys = seen;
  part.queries /= plan.context;
}

void divide_attention(Operator op, const ParallelPlan& plan, std::vector<Operator>& rank) {
  const double c = plan.context;
  if (plan.context_kind == ContextKind::all_to_all) {
    exchange_heads(op, plan);
    rank.push_back(op);
    return;
  }
  const ContextRing& ring = plan.context_ring;
  const bool is_ring = plan.context_kind == ContextKind::ring;
  const double heads = ring.repeats_keys ? op.attention.heads : op.attention.key_heads;
  const double keys = key_values(op, heads);
  const double bytes = keys * op.forward_bytes / plan.tensor;
  const double gradients = keys * std::max(ring.gradient_bytes, op.forward_bytes) / plan.tensor;
  const Overlap overlap = is_ring ? Overlap::itself : Overlap::none;
  const auto gather = [overlap](double moved) {
    return Exchange{CollectiveKind::all_gather, Axis::context, overlap, moved};
  };
  const Operator merged = merge(op, plan, keys);
  see_keys(op, plan);
  op.forward = gather(bytes);
  // Backward they come again, and their gradients go back.
  op.backward = gather(bytes + gradients);
  if (is_ring && ring.gathers) {
    // The other pieces wait for what comes beside the first; gradients go round beside them.
    Operator others = op;
    others.name = "attention to other ranks";
    others.attention.keys *= 1 - 1 / c;
    op.attention.keys /= c;
    others.kept_bytes = others.kept_core_bytes = 0;
    others.forward = {};
    others.backward = gather(gradients);
    op.backward = gather(bytes);
    rank.push_back(op);
    rank.push_back(others);
  } else {
    rank.push_back(op);
  }
  if (is_ring && merged.forward_bytes > 0) rank.push_back(merged);
}

void divide(Block& block, const ParallelPlan& plan) {
  if (plan.context <= 1) return;
  const double c = plan.context;
  std::vector<Operator> rank;
  rank.reserve(block.operators.size() + 2);
  for (Operator& op : block.operators) {
    op.kept_bytes /= c;
    op.kept_core_bytes /= c;
    op.message_bytes /= c;
    if (op.type == OperatorType::attention) {
      divide_attention(op, plan, rank);
    } else {
      op.shape.m /= c;
      rank.push_back(op);
    }
  }
  block.operators = std::move(rank);
  block.input_bytes /= c;
}

constexpr std::array<std::string_view, 2> assumptions = {
    "causal work is the same on every rank where the plan says so, else the last rank has the most",
    "unfused attention is divided by queries and needs no exchange of keys"};

}  // namespace

extern constexpr ParallelismInfo info = {
    "context",
    "divides sequences by positions; keys and values go round",
    "Liu et al., Ring Attention, 2023; Jacobs et al., DeepSpeed Ulysses, 2023",
    assumptions,
    10,
    check,
    divide};

}  // namespace foretrace::parallelism::context_parts
