// What tensor parallelism makes of a recorded pass: which products are divided by columns and by
// rows, what lies between them, and what the group exchanges. How a pair is divided and what it
// exchanges, the modelled job's rules say (models/jobs/parallelism/tensor.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/tensors/training_pass.h"
#include "models/whatifs/parallelism/divided_pair.h"
#include "sim/core/result.h"

namespace foretrace::editing {

/// A kernel of a pass with the time of its share.
struct SplitKernel {
  TaskId kernel{};
  Cost cost;
  bool divides_output = false;  ///< what it writes takes a share, too
};

/// A collective of the tensor group.
struct SplitExchange {
  CollectiveKind kind = CollectiveKind::all_reduce;
  double bytes = 0;
  TaskId before = none<TaskId>;     ///< not none: it runs ahead of this kernel
  TaskId needed_by = none<TaskId>;  ///< and this one waits for it
  TaskId after = none<TaskId>;      ///< the kernel whose result is exchanged
  TaskId until = none<TaskId>;      ///< what follows this kernel on its stream waits for it
};

struct TensorSplit {
  std::vector<SplitKernel> kernels;
  std::vector<SplitExchange> exchanges;
  std::size_t pairs = 0;
  std::size_t whole_products = 0;  ///< that belong to no pair and stay
  double parameters = 0;           ///< numbers, of all weights
  double own_parameters = 0;       ///< of one rank
  std::map<TaskId, double> own;    ///< share of a rank of what this kernel reads; others: all
};

/// A forward pass, with the backward pass after it if there is one. Errors: no_match without pairs
/// of products, bad_config where a size does not divide.
[[nodiscard]] Result<TensorSplit> split_tensors(const KernelEditor& editor,
                                                const TrainingPass& pass,
                                                const TensorOptions& options);

/// Passes to split: training passes, or forward kernels step by step where nothing is trained.
[[nodiscard]] std::vector<TrainingPass> passes_to_split(const KernelEditor& editor);

}  // namespace foretrace::editing
