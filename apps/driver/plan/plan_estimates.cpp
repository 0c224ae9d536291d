#include "apps/driver/plan/plan_estimates.h"

namespace foretrace::driver {
namespace {

// About 3 KB each; a walk through a space comes back to the last few hundred.
constexpr std::size_t most_known = 8192;

}  // namespace

PlanEstimates::Key PlanEstimates::key_of(const Job& job) {
  const ParallelPlan& plan = job.plan;
  const unsigned switches = (plan.sequence ? 1U : 0U) | (plan.balances_context ? 2U : 0U) |
                            (plan.tensor_pieces ? 4U : 0U) | (plan.async_tensor_backward ? 8U : 0U);
  return {job.model,
          job.cluster,
          job.framework,
          job.pass,
          job.precisions.activations,
          job.precisions.layers_in_8_bit,
          job.recompute,
          job.schedule->splits_backward,
          job.micro_batch,
          job.length,
          job.keys,
          waiting_share(job),
          plan.context_kind,
          plan.tensor,
          plan.context,
          plan.expert,
          plan.expert_tensor,
          plan.expert > 1 ? plan.data : 1,
          switches,
          job.has_own_ranks() ? job.stages : std::vector<StageShare>{}};
}

const PlanEstimates::Known& PlanEstimates::known(const Job& job) {
  const Key key = key_of(job);
  if (last_ != nullptr && key == last_key_) return *last_;
  last_key_ = key;
  if (const auto found = known_.find(key); found != known_.end()) return *(last_ = &found->second);
  if (known_.size() >= most_known) known_.clear();
  Known one;
  one.blocks = build_blocks(job);
  one.times = time_blocks(job, one.blocks, no_scale());
  one.blocks.blocks.clear();
  return *(last_ = &known_.emplace(key, std::move(one)).first->second);
}

Result<Estimate> PlanEstimates::of(const Job& job) {
  const Known& parts = known(job);
  return estimate(job, parts.blocks, parts.times, no_scale());
}

const std::vector<BlockTimes>& PlanEstimates::times_of(const Job& job) { return known(job).times; }

}  // namespace foretrace::driver
