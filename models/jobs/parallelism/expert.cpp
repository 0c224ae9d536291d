// Expert parallelism: experts lie on different ranks; tokens go there and come back.
//
//   tokens -> route -> all-to-all -> experts of this rank -> all-to-all -> tokens
//   divided experts: ... all-to-all -> all-gather -> parts of experts -> reduce-scatter ->
//   all-to-all
//
// paper: Lepikhin et al., GShard, ICLR 2021; Hwang et al., Tutel, MLSys 2023
// assumes: every rank of the group gets as many copies of tokens as it sends, and each of its
// experts that is reached the same number; how many are reached:
// models/jobs/workloads/expert_load.h ignores: padding to a capacity calibrate: nothing;
// collectives come from the cluster
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "models/jobs/parallelism/plan.h"

namespace foretrace::parallelism::expert_parts {
namespace {

Status check(const ParallelPlan& plan, const TransformerSpec& spec) {
  if (plan.expert <= 1 && plan.expert_tensor <= 1) return ok_status();
  if (spec.experts.count == 0) {
    const bool spreads = plan.expert > 1;
    return Error{ErrorCode::bad_config,
                 fmt::format("{}: got {}, expected 1: the model has no experts",
                             spreads ? "expert" : "expert_tensor",
                             spreads ? plan.expert : plan.expert_tensor)};
  }
  if (spec.experts.count % plan.expert != 0) {
    return Error{ErrorCode::bad_config,
                 fmt::format("expert: got {}, expected a divisor of the {} experts", plan.expert,
                             spec.experts.count)};
  }
  if (plan.expert_tensor > 1 && plan.expert_tensor != plan.tensor) {
    return Error{ErrorCode::bad_config,
                 fmt::format("expert_tensor: got {}, expected 1{}", plan.expert_tensor,
                             plan.tensor > 1 ? fmt::format(" or {} as tensor", plan.tensor) : "")};
  }
  const std::uint32_t ranks = plan.copies() * plan.tensor;
  if (ranks % (plan.expert * plan.expert_tensor) != 0) {
    return Error{ErrorCode::bad_config,
                 fmt::format("expert: got {} x {} ranks, expected a divisor of the {} ranks of a "
                             "pipeline stage",
                             plan.expert, plan.expert_tensor, ranks)};
  }
  return ok_status();
}

// Ranks that divide every expert: tokens come together before, partial sums are added up behind.
void add_up(Operator& op, const ParallelPlan& plan, double bytes) {
  if (plan.expert_tensor <= 1) return;
  const auto on_group = [&](CollectiveKind kind) {
    return Exchange{kind, Axis::tensor, Overlap::none, bytes};
  };
  const bool enters = op.type == OperatorType::dispatch;
  if (plan.sequence) {
    op.forward = on_group(enters ? CollectiveKind::all_gather : CollectiveKind::reduce_scatter);
    op.backward = on_group(enters ? CollectiveKind::reduce_scatter : CollectiveKind::all_gather);
  } else if (enters) {
    op.backward = on_group(CollectiveKind::all_reduce);
  } else {
    op.forward = on_group(CollectiveKind::all_reduce);
  }
}

// Tokens go to the ranks of their experts and come back. Where each expert is divided as well, its
// ranks have other copies each: theirs come together behind the way there, and are added up before
// the way back. Without a way one copy per token is enough.
void connect(Operator op, const ParallelPlan& plan, double tokens, std::vector<Operator>& rank) {
  const bool enters = op.type == OperatorType::dispatch;
  Operator group = op;
  group.name = enters ? "gather for divided experts" : "sum of divided experts";
  add_up(group, plan, op.message_bytes);
  if (plan.expert == 1) add_up(op, plan, op.message_bytes / std::max(1.0, op.shape.batch));
  op.message_bytes /= tokens;
  if (plan.expert > 1) {
    op.forward = {CollectiveKind::all_to_all, Axis::expert, Overlap::none, op.message_bytes};
    op.backward = op.forward;
  }
  const bool both = plan.expert > 1 && plan.expert_tensor > 1;
  if (both && !enters) rank.push_back(group);
  rank.push_back(op);
  if (both && enters) rank.push_back(group);
}

void divide_expert(Operator& op, const ParallelPlan& plan, double tokens) {
  const double ep = plan.expert;
  const double etp = plan.expert_tensor;
  // Without sequence parallelism all ranks of a tensor group have the same tokens: those that
  // divide an expert do not bring it more.
  const double same = plan.sequence ? 1 : etp;
  op.kept_bytes *= 1 / tokens;
  op.weights /= ep * etp;
  if (op.type == OperatorType::product) {
    // The batch are experts that tokens reach; who has fewer than one on average reads one.
    const double experts = std::max(1.0, op.shape.batch / ep);
    op.shape.m *= op.shape.batch / experts * etp / (tokens * same);
    op.shape.batch = experts;
    (op.split == Split::columns ? op.shape.n : op.shape.k) /= etp;
  } else {
    op.shape.m *= etp / (tokens * same);
    op.shape.n /= etp;
  }
}

void divide(Block& block, const ParallelPlan& plan) {
  // Without a tensor group of their own, experts get the tokens that a rank has under sequence
  // parallelism.
  const double tokens = plan.sequence ? static_cast<double>(plan.tensor) : 1;
  std::vector<Operator> rank;
  rank.reserve(block.operators.size() + 2);
  for (Operator& op : block.operators) {
    if (op.type == OperatorType::dispatch || op.type == OperatorType::combine) {
      connect(op, plan, tokens, rank);
      continue;
    }
    if (op.is_expert) divide_expert(op, plan, tokens);
    rank.push_back(op);
  }
  block.operators = std::move(rank);
}

constexpr std::array<std::string_view, 2> assumptions = {
    "every rank gets as many tokens as it sends, and each of its experts that is reached as many",
    "tokens of all ranks of the group decide how many experts are reached; in training all are"};

}  // namespace

extern constexpr ParallelismInfo info = {
    "expert",
    "puts the experts of a layer on different ranks",
    "Lepikhin et al., GShard, ICLR 2021; Hwang et al., Tutel, MLSys 2023",
    assumptions,
    20,
    check,
    divide};

}  // namespace foretrace::parallelism::expert_parts
