// Adding up gradients along an axis of a job: whole, or by blocks that are not all zero.
#pragma once

#include <array>

#include "models/hardware/collectives/collective_costs.h"
#include "models/jobs/program/rank_program.h"

namespace foretrace {

/// The group of `call` is that of the axis. By blocks, the accelerator reads what its node has
/// added up once to find them, and behind an all-gather adds up what came.
[[nodiscard]] double gradient_sum_ns(const Job& job, const GridAxis& axis, CollectiveCall call,
                                     const SourceScale& scale);

/// One of the exchanges that add gradients up.
struct GradientSum {
  GridAxis axis;
  CollectiveKind kind = CollectiveKind::all_reduce;
  double bytes = 0;
};

/// In their order: each rank gets the sums of what it updates. Where groups of ranks share a copy of
/// the states, they add up and divide, and copies of a share add up theirs; the weights of experts
/// among theirs.
[[nodiscard]] std::array<GradientSum, 3> gradient_sums(const ParallelPlan& plan, double dense_bytes,
                                                       double expert_bytes);

/// Gradients that wait until they are added up together, where that runs beside the backward pass.
/// The one that fills a bucket goes with it.
class GradientBuckets {
 public:
  GradientBuckets(const Framework& framework, const ParallelPlan& plan);

  /// So many elements wait: whether they go now.
  [[nodiscard]] bool goes(double elements) {
    if (elements < limit_) return false;
    limit_ = usual_;
    return true;
  }
  /// Of a bucket that is not the first one.
  [[nodiscard]] double usual_elements() const { return usual_; }

 private:
  double usual_;
  double limit_;
};

}  // namespace foretrace
