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
// ignores: the smaller kernels of a ring's pieces
// calibrate: nothing; collectives come from the cluster
#include <array>
#include <cmath>

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
double key_value_bytes(const Operator& op, double number_bytes) {
  const AttentionPart& part = op.attention;
  return op.shape.batch * part.keys * part.key_heads * (part.head_size + part.value_size) *
         number_bytes;
}

void divide_attention(Operator& op, const ParallelPlan& plan) {
  AttentionPart& part = op.attention;
  const double c = plan.context;
  constexpr double number_bytes = 2;
  const double bytes = key_value_bytes(op, number_bytes) / plan.tensor;
  if (plan.context_kind == ContextKind::all_to_all) {
    const double query = op.shape.batch * part.queries * part.heads *
                         (part.head_size + part.value_size) * number_bytes / plan.tensor;
    op.forward = {CollectiveKind::all_to_all, Axis::context, Overlap::none, (bytes + query) / c};
    op.backward = op.forward;
    part.heads /= c;
    part.key_heads = std::max(1.0, part.key_heads / c);
    return;
  }
  // The last rank has its own positions, half of them masked, and all before them.
  const double all = part.keys_seen();
  const double seen = plan.balances_context || !part.causal ? all : all * (2 - 1 / c);
  part.causal = false;
  part.keys = seen;
  part.queries /= c;
  const bool ring = plan.context_kind == ContextKind::ring;
  const Overlap overlap = ring ? Overlap::itself : Overlap::none;
  op.forward = {CollectiveKind::all_gather, Axis::context, overlap, bytes};
  // Backward they come again, and their gradients go back.
  op.backward = {CollectiveKind::all_gather, Axis::context, overlap, 2 * bytes};
}

void divide(Block& block, const ParallelPlan& plan) {
  if (plan.context <= 1) return;
  const double c = plan.context;
  for (Operator& op : block.operators) {
    if (op.type == OperatorType::attention) {
      divide_attention(op, plan);
    } else {
      op.shape.m /= c;
    }
    op.kept_bytes /= c;
    op.kept_core_bytes /= c;
    op.message_bytes /= c;
  }
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
