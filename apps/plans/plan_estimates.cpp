#include "apps/plans/plan_estimates.h"

#include <utility>

namespace foretrace {
namespace {

// A walk through a space comes back to the last few hundred jobs. What is kept of one is 4 KB for a
// model of equal layers, and some 100 KB where each layer is of its own kind.
constexpr std::size_t most_kept_bytes = std::size_t{64} << 20;

std::size_t bytes_of(const JobBlocks& blocks) {
  std::size_t bytes =
      blocks.blocks.capacity() * sizeof(RankBlock) + blocks.order.capacity() * sizeof(BlockRun);
  for (const RankBlock& block : blocks.blocks) {
    const BlockProgram& program = block.program;
    bytes += block.name.capacity() + program.gradients.capacity() * sizeof(GradientExchange) +
             program.traveling.capacity() * sizeof(double);
    for (const auto* actions : {&program.forward, &program.backward, &program.weight_gradients}) {
      bytes += actions->capacity() * sizeof(Action);
    }
  }
  return bytes;
}

std::size_t bytes_of(const std::vector<BlockTimes>& times) {
  std::size_t bytes = times.capacity() * sizeof(BlockTimes);
  for (const BlockTimes& block : times) {
    bytes += block.gradients.capacity() * sizeof(GradientExchange) +
             block.traveling.capacity() * sizeof(double);
  }
  return bytes;
}

}  // namespace

PlanEstimates::Found PlanEstimates::found(const Job& job) {
  Job of_blocks = job_of_blocks(job);
  const double share = clock_share(job);
  if (last_.times != nullptr && share == last_share_ && of_blocks == last_job_) return last_;
  if (bytes_known_ >= most_kept_bytes) {
    known_.clear();
    bytes_known_ = 0;
  }
  const auto [place, is_new] = known_.try_emplace(of_blocks);
  Known& known = place->second;
  if (is_new) {
    known.blocks = lower_blocks(job);
    bytes_known_ += sizeof(*place) + bytes_of(known.blocks);
  }
  const auto [times, is_new_share] = known.times.try_emplace(share);
  if (is_new_share) {
    times->second = time_blocks(job, known.blocks, settled_scale(job, known.blocks));
    bytes_known_ += sizeof(*times) + bytes_of(times->second);
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

}  // namespace foretrace
