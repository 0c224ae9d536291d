// Data parallelism put into the trace of one device: gradients go in buckets beside the backward
// pass.
#pragma once

#include <cstdint>
#include <string>

#include "models/editing/kernels/kernel_editor.h"
#include "models/hardware/networks/cluster.h"

namespace foretrace::editing {

struct DataParallel {
  std::uint32_t ranks = 1;
  std::uint32_t stride = 1;    ///< ranks between neighbours: those of a tensor group lie between
  std::uint32_t sharding = 0;  ///< 0; 1: optimizer states; 2: and gradients; 3: and parameters
  double bucket_bytes = 25.0 * (1U << 20U);
  bool bucket_view = false;  ///< gradients live in the buckets: no copies
  double gradient_bytes = 4;
  double parameters = 0;  ///< numbers; 0: from the trace
  double shrink = 1;      ///< gradients of one rank / recorded ones: what other axes divide
};

/// What was put in.
struct SpreadData {
  std::string note;
  double buffer_bytes = 0;  ///< that a rank holds besides parameters, gradients and states
};

/// Inserts everything but parameters that are collected (sharding 3). Error: no_match without a
/// training step, missing_cost if nothing tells how large the gradients are.
[[nodiscard]] Result<SpreadData> spread_data(KernelEditor& editor, const Cluster& cluster,
                                             const DataParallel& options);

}  // namespace foretrace::editing
