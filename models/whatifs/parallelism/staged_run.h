// Pipeline parallelism of a recorded run: its program on the ranks of several stages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "models/editing/what_if_input.h"
#include "models/hardware/networks/cluster.h"
#include "models/whatifs/parallelism/data_parallel.h"
#include "models/whatifs/parallelism/tensor_split.h"
#include "sim/graph/change.h"

namespace foretrace::editing {

struct PipelineOptions {
  std::uint32_t stages = 2;
  std::string schedule = "1f1b";
  std::uint32_t chunks = 0;      ///< of the model per stage; 0: as few as the schedule takes
  std::uint32_t shard_size = 0;  ///< data ranks that share one copy; 0: all
  std::uint32_t micro_batches =
      0;                   ///< of the recorded batch each; 0: four per stage, one without stages
  std::size_t layers = 0;  ///< as in find_layers()
  TensorOptions tensor;    ///< ranks 1: products stay whole
  DataParallel data;       ///< ranks 1: one copy
};

/// The recorded rank becomes stage 0, the others lie behind it. Errors: those of split_tensors() and
/// spread_program().
[[nodiscard]] Result<Change> staged_run(const WhatIfInput& input, const Cluster& cluster,
                                        const PipelineOptions& options);

}  // namespace foretrace::editing
