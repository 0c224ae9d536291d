// What goes from stage to stage of a pipeline.
#pragma once

#include <cstdint>
#include <vector>

#include "models/jobs/program/job.h"

namespace foretrace {

/// Bytes that enter the blocks of a position on this stage, of one micro-batch and all ranks that
/// divide it.
[[nodiscard]] double passed_bytes(const Job& job, const JobBlocks& blocks,
                                  const std::vector<BlockTimes>& times,
                                  const std::vector<BlockRun>& runs, std::uint32_t stage);

}  // namespace foretrace
