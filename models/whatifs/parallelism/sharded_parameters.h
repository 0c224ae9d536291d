// Parameters divided among data-parallel ranks and put into the trace of one device: collected
// layer by layer before they are used, gradients scattered behind each layer.
#pragma once

#include <cstddef>

#include "models/editing/kernels/kernel_editor.h"
#include "models/hardware/networks/cluster.h"
#include "models/whatifs/parallelism/data_parallel.h"

namespace foretrace::editing {

/// Inserts everything; `layers` as in find_layers(). Errors: no_match without a
/// training step or layers, missing_cost if nothing tells how large the parameters are.
[[nodiscard]] Result<SpreadData> shard_parameters(KernelEditor& editor, const Cluster& cluster,
                                                  const DataParallel& options, std::size_t layers);

}  // namespace foretrace::editing
