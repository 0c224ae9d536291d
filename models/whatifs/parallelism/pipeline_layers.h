// Pipeline parallelism put into the trace of one device: its layers on the ranks of several stages,
// each doing every micro-batch in the order of a schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "models/editing/kernels/kernel_editor.h"
#include "models/hardware/networks/cluster.h"
#include "models/whatifs/parallelism/data_parallel.h"
#include "models/whatifs/parallelism/tensor_split.h"

namespace foretrace::editing {

struct PipelineOptions {
  std::uint32_t stages = 2;
  std::uint32_t micro_batches = 0;  ///< of the recorded batch each; 0: four per stage
  std::size_t layers = 0;           ///< as in find_layers()
  TensorOptions tensor;             ///< ranks 1: products stay whole
  DataParallel data;                ///< ranks 1: one copy; sharding up to 2
};

struct PipelinedRun {
  std::string note;
  std::uint32_t micro_batches = 1;  ///< per data rank
};

/// The recorded rank becomes stage 0, the others are put in. Errors: no_match without a training
/// step, layers or enough of them; missing_cost where nothing tells the size of what is sent.
[[nodiscard]] Result<PipelinedRun> pipeline_layers(KernelEditor& editor, const Cluster& cluster,
                                                   const PipelineOptions& options);

}  // namespace foretrace::editing
