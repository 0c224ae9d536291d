#include "apps/plans/plan_estimates.h"

#include <utility>

namespace foretrace {
namespace {

// A walk through a space comes back to the last few hundred jobs. What is kept of one is 4 KB for a
// model of equal layers, and some 100 KB where each layer is of its own kind.
constexpr std::size_t most_kept_bytes = std::size_t{64} << 20;

std::size_t bytes_of(const std::vector<RankProgram::Block>& blocks) {
  std::size_t bytes = blocks.capacity() * sizeof(RankProgram::Block);
  for (const RankProgram::Block& block : blocks) {
    bytes += block.name.capacity() + block.gradients.capacity() * sizeof(Exchange) +
             block.traveling.capacity() * sizeof(double);
  }
  return bytes;
}

}  // namespace

const RankProgram& PlanEstimates::blocks_of(const Job& job) {
  Job of_blocks = job_of_blocks(job);
  const StageWaits waits = stage_waits(job);
  if (last_ != nullptr && waits == last_waits_ && of_blocks == last_job_) return *last_;
  if (bytes_known_ >= most_kept_bytes) {
    known_.clear();
    bytes_known_ = 0;
  }
  const auto [place, is_new] = known_.try_emplace(of_blocks);
  Known& known = place->second;
  if (is_new) {
    known.lowered = lower_blocks(job);
    bytes_known_ += sizeof(*place) + bytes_of(*known.lowered.blocks) +
                    known.lowered.actions->capacity() * sizeof(Action) +
                    known.lowered.order.capacity() * sizeof(BlockRun);
  }
  const auto [found, are_new] = known.by_waits.try_emplace(waits);
  if (are_new) {
    found->second = timed(job, known.lowered, settled_scale(job, known.lowered));
    bytes_known_ += sizeof(*found) + bytes_of(*found->second.blocks);
  }
  last_job_ = std::move(of_blocks);
  last_waits_ = waits;
  last_ = &found->second;
  return *last_;
}

Result<Estimate> PlanEstimates::of(const Job& job, Passes passes) {
  FORETRACE_TRY(const auto program, laid_out(job, blocks_of(job), no_scale()));
  return estimate(job, program, passes);
}

}  // namespace foretrace
