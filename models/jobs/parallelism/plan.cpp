#include "models/jobs/parallelism/plan.h"

#include <algorithm>

#include <fmt/format.h>

namespace foretrace {
namespace {

/// More than any machine has; what counts ranks in 32 bits holds them.
constexpr std::uint32_t most_ranks_of_plan = 100'000'000;

std::vector<const ParallelismInfo*> in_order() {
  const auto kinds = parallelism::all();
  std::vector<const ParallelismInfo*> sorted(kinds.begin(), kinds.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto* a, const auto* b) { return a->order < b->order; });
  return sorted;
}

/// Groups have ranks, and all of them together a number of their own.
Status check_counts(const ParallelPlan& plan) {
  struct Count {
    std::string_view name;
    std::uint32_t ranks;
  };
  double all = 1;
  for (const Count one :
       {Count{"tensor", plan.tensor}, Count{"pipeline", plan.pipeline},
        Count{"context", plan.context}, Count{"data", plan.data}, Count{"expert", plan.expert},
        Count{"expert_tensor", plan.expert_tensor}}) {
    if (one.ranks > 0 && one.ranks <= most_ranks_of_plan) {
      if (one.name != "expert" && one.name != "expert_tensor") all *= one.ranks;
      continue;
    }
    return Error{ErrorCode::bad_config, fmt::format("{}: got {}, expected 1 to {}", one.name,
                                                    one.ranks, most_ranks_of_plan)};
  }
  if (all <= most_ranks_of_plan) return ok_status();
  return Error{ErrorCode::bad_config, fmt::format("data: got {} ranks in all, expected at most {}",
                                                  all, most_ranks_of_plan)};
}

}  // namespace

GridAxis axis_of(const ParallelPlan& plan, Axis axis) {
  const std::uint32_t ranks = plan.ranks();
  const std::uint32_t stage = plan.tensor * plan.context * plan.data;
  switch (axis) {
    case Axis::tensor: return {plan.tensor, 1, ranks};
    case Axis::context: return {plan.context, plan.tensor, ranks};
    // Experts spread over neighbours of the data group, beginning with the nearest.
    case Axis::expert:
      return {plan.expert, plan.expert_tensor > 1 || plan.tensor == 1 ? plan.tensor : 1, ranks};
    case Axis::data: return {plan.copies(), plan.tensor, ranks};
    case Axis::pipeline: return {plan.pipeline, stage, ranks};
    case Axis::embedding: return {2, stage * (plan.pipeline - 1), ranks};
  }
  return {};
}

double expert_batches(const ParallelPlan& plan) {
  const double ranks = static_cast<double>(plan.expert) * plan.expert_tensor;
  // Without sequence parallelism the ranks of a tensor group have the same tokens.
  const double groups = plan.sequence ? ranks / plan.tensor : std::max(1.0, ranks / plan.tensor);
  return groups / plan.context;
}

std::uint32_t usual_expert_tensor(const ParallelPlan& plan, const TransformerSpec& spec) {
  return spec.experts.count > 0 ? plan.tensor : 1;
}

GridAxis shard_axis(const ParallelPlan& plan) { return {plan.shards(), plan.tensor, plan.ranks()}; }

GridAxis replica_axis(const ParallelPlan& plan) {
  const std::uint32_t shards = std::max(1U, plan.shards());
  return {std::max(1U, plan.copies() / shards), plan.tensor * shards, plan.ranks()};
}

GridAxis expert_copies(const ParallelPlan& plan) {
  const std::uint32_t ranks = plan.copies() * plan.tensor;
  const std::uint32_t one = std::max(1U, plan.expert * plan.expert_tensor);
  return {std::max(1U, ranks / one), one, plan.ranks()};
}

Sharding real_sharding(const ParallelPlan& plan, bool has_experts) {
  const bool is_divided = plan.shards() > 1 || (has_experts && expert_copies(plan).size > 1);
  return is_divided ? plan.sharding : Sharding::none;
}

Status check_plan(const ParallelPlan& plan, const TransformerSpec& spec) {
  FORETRACE_TRY(check_counts(plan));
  for (const ParallelismInfo* kind : in_order()) {
    if (kind->check == nullptr) continue;
    FORETRACE_TRY(kind->check(plan, spec));
  }
  return ok_status();
}

void divide(Workload& workload, const ParallelPlan& plan) {
  for (const ParallelismInfo* kind : in_order()) {
    if (kind->divide == nullptr) continue;
    for (Block& block : workload.blocks) kind->divide(block, plan);
  }
}

}  // namespace foretrace
