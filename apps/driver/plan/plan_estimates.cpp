#include "apps/driver/plan/plan_estimates.h"

#include <utility>

namespace foretrace::driver {
namespace {

// About 3 KB each; a walk through a space comes back to the last few hundred.
constexpr std::size_t most_known = 8192;

}  // namespace

PlanEstimates::Found PlanEstimates::found(const Job& job) {
  Job of_blocks = job_of_blocks(job);
  const double share = clock_share(job);
  if (last_.times != nullptr && share == last_share_ && of_blocks == last_job_) return last_;
  if (times_known_ >= most_known) {
    known_.clear();
    times_known_ = 0;
  }
  const auto [place, is_new] = known_.try_emplace(of_blocks);
  Known& known = place->second;
  if (is_new) known.blocks = lower_blocks(job);
  const auto [times, is_new_share] = known.times.try_emplace(share);
  if (is_new_share) {
    times->second = time_blocks(job, known.blocks, settled_scale(job, known.blocks));
    ++times_known_;
  }
  last_job_ = std::move(of_blocks);
  last_share_ = share;
  return last_ = {&known.blocks, &times->second};
}

Result<Estimate> PlanEstimates::of(const Job& job, Passes passes) {
  const Found parts = found(job);
  return estimate(job, *parts.blocks, *parts.times, no_scale(), passes);
}

const std::vector<BlockTimes>& PlanEstimates::times_of(const Job& job) { return *found(job).times; }

}  // namespace foretrace::driver
