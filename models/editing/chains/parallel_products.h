// Matrix products that read the same input one after the other, and the one product they could be.
#pragma once

#include <vector>

#include "models/editing/kernels/kernel_editor.h"

namespace foretrace::editing {

struct ParallelProducts {
  std::vector<TaskId> kernels;  ///< next to each other on a stream, and no wait between them
  GemmShape merged;             ///< their outputs side by side
};

/// Runs of linear products in forward or inference with equal rows and inner size and nothing
/// between them: queries, keys and values of attention, gates of recurrent layers.
[[nodiscard]] std::vector<ParallelProducts> find_parallel_products(const KernelEditor& editor);

/// Their measured time x model time of the merged product / model time of the single ones;
/// missing_cost without an accelerator.
[[nodiscard]] Result<Cost> merged_cost(const KernelEditor& editor, const ParallelProducts& group);

/// What the one product does; with a bias where the single ones have one.
[[nodiscard]] KernelWork merged_work(const KernelEditor& editor, const ParallelProducts& group);

}  // namespace foretrace::editing
