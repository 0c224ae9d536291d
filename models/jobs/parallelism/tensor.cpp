// Tensor parallelism: pairs of products are divided by columns and rows, so that one collective per
// pair and direction is enough; with sequence parallelism the rest is divided by tokens.
//
//   x --norm--> enter --[columns]--> inside --[rows]--> leave --residual-->
//   forward   no sequence: nothing .......... all-reduce     sequence: all-gather .. reduce-scatter
//   backward  no sequence: all-reduce .......... nothing     sequence: reduce-scatter .. all-gather
//
// paper: Shoeybi et al., Megatron-LM, 2019; Korthikanti et al., Reducing Activation Recomputation
//   in Large Transformer Models, MLSys 2023
// assumes: heads and inner sizes are divided evenly
// ignores: the small all-reduces of layer norm gradients under sequence parallelism
// calibrate: nothing; collectives come from the cluster
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "models/jobs/parallelism/plan.h"

namespace foretrace::parallelism::tensor_parts {
namespace {

Status check(const ParallelPlan& plan, const TransformerSpec& spec) {
  const double t = plan.tensor;
  const auto refuse = [&](double size, std::string_view what) {
    return Error{
        ErrorCode::bad_config,
        fmt::format("tensor: got {}, expected a divisor of the {} {}", plan.tensor, size, what)};
  };
  if (t <= 1) return ok_status();  // sequence divides by it, too: nothing
  if (std::fmod(spec.heads, t) != 0) return refuse(spec.heads, "heads");
  if (std::fmod(spec.kv_heads, t) != 0 && std::fmod(t, spec.kv_heads) != 0) {
    return refuse(spec.kv_heads, "key heads (or a multiple of them)");
  }
  if (std::fmod(spec.ffn, t) != 0) return refuse(spec.ffn, "numbers of the feed-forward part");
  return ok_status();
}

void divide_inside(Operator& op, double t) {
  switch (op.type) {
    case OperatorType::batch_product: op.shape.batch /= t; break;
    case OperatorType::rows: op.shape.m /= t; break;
    case OperatorType::attention:
      op.attention.heads /= t;
      op.attention.key_heads = std::max(1.0, op.attention.key_heads / t);
      break;
    default: op.shape.n /= t; break;
  }
  op.kept_bytes *= op.divided_kept / t;
  op.kept_core_bytes /= t;
}

void divide_operator(Operator& op, double t, bool sequence) {
  switch (op.split) {
    case Split::none: return;
    case Split::sequence:
      if (!sequence) return;
      op.shape.m /= t;
      op.kept_bytes /= t;
      return;
    case Split::columns:
      // A gather looks every token up; rows of other ranks give zeros.
      if (op.type == OperatorType::product) op.shape.n /= t;
      op.weights /= t;
      if (sequence && !op.keeps_whole_input) op.kept_bytes /= t;
      return;
    case Split::rows:
      op.shape.k /= t;
      op.weights /= t;
      op.kept_bytes /= t;
      return;
    case Split::inside: divide_inside(op, t); return;
  }
}

void connect(Operator& op, const ParallelPlan& plan) {
  const double bytes = op.message_bytes;
  const bool pieces = plan.tensor_pieces && plan.sequence;
  const Overlap overlap = pieces                       ? Overlap::pieces
                          : plan.async_tensor_backward ? Overlap::weights
                                                       : Overlap::none;
  const Overlap beside = pieces ? Overlap::pieces : Overlap::none;
  const auto exchange = [&](CollectiveKind kind, Overlap when) {
    return Exchange{kind, Axis::tensor, when, bytes};
  };
  if (op.type == OperatorType::enter) {
    if (plan.sequence) {
      op.forward = exchange(CollectiveKind::all_gather, beside);
      op.backward = exchange(CollectiveKind::reduce_scatter, overlap);
      op.again = exchange(CollectiveKind::all_gather, overlap);
    } else {
      op.backward = exchange(CollectiveKind::all_reduce, overlap);
    }
  } else if (plan.sequence) {
    op.forward = exchange(CollectiveKind::reduce_scatter, beside);
    op.backward = exchange(CollectiveKind::all_gather, beside);
  } else {
    op.forward = exchange(CollectiveKind::all_reduce, Overlap::none);
  }
}

void divide(Block& block, const ParallelPlan& plan) {
  if (plan.tensor <= 1) return;
  const double t = plan.tensor;
  for (Operator& op : block.operators) {
    if (op.is_expert) continue;
    if (op.type == OperatorType::enter || op.type == OperatorType::leave) {
      connect(op, plan);
    } else {
      divide_operator(op, t, plan.sequence);
    }
  }
  if (plan.sequence) block.input_bytes /= t;
}

constexpr std::array<std::string_view, 2> assumptions = {
    "heads and inner sizes are divided evenly",
    "collectives wait for the slowest rank, and ranks are equally fast"};

}  // namespace

extern constexpr ParallelismInfo info = {
    "tensor",
    "divides the products of a layer by columns and rows, and the heads of attention",
    "Shoeybi et al., Megatron-LM, arXiv:1909.08053, 2019; Korthikanti et al., MLSys 2023",
    assumptions,
    30,
    check,
    divide};

}  // namespace foretrace::parallelism::tensor_parts
