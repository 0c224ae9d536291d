// Transformers as blocks: embedding, layers (dense or with experts), head and loss.
#pragma once

#include "models/jobs/workloads/kernel_set.h"
#include "models/jobs/workloads/model_spec.h"
#include "models/jobs/workloads/operator.h"
#include "sim/core/result.h"

namespace foretrace {

enum class Pass : std::uint8_t { training, prefill, decode };

/// What one micro-batch holds.
struct BatchShape {
  double sequences = 1;
  double length = 2048;  ///< tokens of each that are computed
  double keys = 2048;    ///< positions that they attend to; training and prefill: length
  Pass pass = Pass::training;
  double number_bytes = 2;  ///< of activations
  /// Of those that products read and write, and of what takes their results as they are: less under
  /// autocast, where sums, norms and softmax are in 32 bit.
  double product_bytes = 2;
  /// Batches whose tokens reach the same experts: those of all ranks that hold one copy of them.
  double expert_batches = 1;
  [[nodiscard]] double tokens() const { return sequences * length; }
};

/// Blocks of one micro-batch on one device: nothing divided yet.
[[nodiscard]] Workload build_transformer(const TransformerSpec& spec, const BatchShape& batch,
                                         const KernelSet& kernels);

}  // namespace foretrace
