// Tensor parallelism put into the trace of one device: products of a layer run in parts, the group
// exchanges what they add up to.
#pragma once

#include <map>
#include <string>

#include "models/editing/kernels/kernel_editor.h"
#include "models/hardware/networks/cluster.h"
#include "models/whatifs/parallelism/network_calls.h"
#include "models/whatifs/parallelism/tensor_split.h"

namespace foretrace::editing {

struct DividedTensors {
  std::string note;
  double own_parameters = 1;     ///< share of all parameters that a rank holds
  std::map<TaskId, double> own;  ///< the same of those that a kernel reads; others: all
};

/// Sets the times of divided kernels, inserts the exchanges, shrinks what divided kernels write.
/// Errors as for split_tensors().
[[nodiscard]] Result<DividedTensors> divide_tensors(KernelEditor& editor, const Cluster& cluster,
                                                    const TensorOptions& options);

/// Rows of the table become those of a rank of the group, and of these it updates a share.
void divide_parameters(KernelEditor& editor, const DividedTensors& divided, double updated);

/// An exchange as its group does it.
[[nodiscard]] NetworkTransfer tensor_transfer(const SplitExchange& exchange, const GridAxis& group);

}  // namespace foretrace::editing
