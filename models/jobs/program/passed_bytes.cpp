#include "models/jobs/program/passed_bytes.h"

#include "models/jobs/program/stages.h"

namespace foretrace {

double passed_bytes(const Job& job, const JobBlocks& blocks, const std::vector<BlockTimes>& times,
                    const std::vector<BlockRun>& runs, std::uint32_t stage) {
  if (!job.has_samples() || runs.empty()) return blocks.hidden_bytes;
  const double bytes = times[runs.front().block].input_bytes;
  return bytes > 0 ? bytes * batch_parts(job, stage) : blocks.hidden_bytes;
}

}  // namespace foretrace
