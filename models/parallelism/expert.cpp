// Expert parallelism: experts lie on different ranks; tokens go there and come back.
//
//   tokens -> route -> all-to-all -> experts of this rank -> all-to-all -> tokens
//
// paper: Lepikhin et al., GShard, ICLR 2021; Hwang et al., Tutel, MLSys 2023
// assumes: the router sends every expert the same number of tokens
// ignores: padding to a capacity
// calibrate: nothing; collectives come from the cluster
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "models/parallelism/plan.h"

namespace foretrace::parallelism::expert_parts {
namespace {

Status check(const ParallelPlan& plan, const TransformerSpec& spec) {
  if (plan.expert <= 1 && plan.expert_tensor <= 1) return ok_status();
  if (spec.experts.count == 0) {
    return Error{ErrorCode::bad_config,
                 fmt::format("expert: got {}, expected 1: the model has no experts", plan.expert)};
  }
  if (spec.experts.count % plan.expert != 0) {
    return Error{ErrorCode::bad_config,
                 fmt::format("expert: got {}, expected a divisor of the {} experts", plan.expert,
                             spec.experts.count)};
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

void divide(Block& block, const ParallelPlan& plan) {
  const double ep = plan.expert;
  const double etp = plan.expert_tensor;
  // Without a tensor group of their own, experts get the tokens that a rank has under sequence
  // parallelism.
  const double tokens = plan.sequence ? static_cast<double>(plan.tensor) : 1;
  for (Operator& op : block.operators) {
    if (op.type == OperatorType::dispatch || op.type == OperatorType::combine) {
      op.message_bytes *= 1 / tokens;
      if (plan.expert > 1) {
        op.forward = {CollectiveKind::all_to_all, Axis::expert, Overlap::none, op.message_bytes};
        op.backward = op.forward;
      }
      continue;
    }
    if (!op.is_expert) continue;
    op.kept_bytes *= 1 / tokens;
    op.weights /= ep * etp;
    if (op.type == OperatorType::product) {
      op.shape.batch /= ep;
      op.shape.m *= ep * etp / tokens;
      (op.split == Split::columns ? op.shape.n : op.shape.k) /= etp;
    } else {
      op.shape.m *= etp / tokens;
      op.shape.n /= etp;
    }
  }
}

constexpr std::array<std::string_view, 1> assumptions = {
    "the router sends every expert the same number of tokens"};

constexpr ParallelismInfo info = {
    "expert",
    "puts the experts of a layer on different ranks",
    "Lepikhin et al., GShard, ICLR 2021; Hwang et al., Tutel, MLSys 2023",
    assumptions,
    20,
    check,
    divide};

}  // namespace
}  // namespace foretrace::parallelism::expert_parts

namespace foretrace::parallelism {
extern const ParallelismInfo expert;
constinit const ParallelismInfo expert = expert_parts::info;
}  // namespace foretrace::parallelism
