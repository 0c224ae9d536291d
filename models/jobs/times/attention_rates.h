// How much of a chip's peak fused attention reaches.
#pragma once

#include "models/hardware/networks/cluster.h"
#include "models/jobs/workloads/kernel_set.h"

namespace foretrace {

struct AttentionRate {
  Ranged forward;
  Ranged backward;
};

/// Shares of the dense 16-bit peak, of the FLOPs of the pairs that are computed; backward of 2.5
/// times those.
[[nodiscard]] AttentionRate attention_rate(AttentionKernel kernel, Generation generation);

/// Dense FLOP/s of the units that it runs on: of 32-bit numbers those of TF32, where they exist.
[[nodiscard]] double attention_peak(const Accelerator& accelerator, Precision precision);

}  // namespace foretrace
