// Sharded parameters that travel tensor by tensor instead of block by block.
#pragma once

#include <span>
#include <vector>

#include "models/jobs/times/shard_travel.h"
#include "models/jobs/times/two_lanes.h"
#include "models/jobs/workloads/operator.h"

namespace foretrace {

/// One use of a parameter tensor by a pass. Times in ns, of this tensor alone.
struct TensorUse {
  double elements = 0;
  double computed = 0;  ///< of the pass, with this tensor
  double gather = 0;    ///< until it is whole; 0: it is there
  double scatter = 0;   ///< to add up and divide its gradient afterwards; 0: not done here
  double views = 0;     ///< of the host, before each of the two
  double copies = 0;    ///< of the host, beside `gather` and before `scatter`
};

/// Runs uses in order: each waits for its tensor and for those asked for with it, asks for the next
/// ones, then computes. What the host does for a collective keeps it from launching kernels.
/// `product_slowdown` >= 1: of kernels beside a collective. Returns what the host did in all, ns.
[[nodiscard]] double run_tensors(std::span<const TensorUse> uses, const ShardTravel& travel,
                                 double product_slowdown, TwoLanes& lanes);

/// Elements of the parameter tensors of an operator: of a product its matrix and its bias, of a
/// norm its scale and its bias.
[[nodiscard]] std::vector<double> tensors_of(const Operator& op);

/// For each of a recomputed block's tensors, in the order of their use: whether it stays from its
/// recomputation until its backward pass, because all that is used in between (later tensors,
/// twice) has fewer than `reuse_elements`.
[[nodiscard]] std::vector<bool> stay_for_backward(std::span<const double> tensors,
                                                  double reuse_elements);

}  // namespace foretrace
