// Collectives of gradients as a recording has them: which belong to one pass, and where in the
// backward pass each was launched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/editing/kernels/kernel_editor.h"
#include "models/editing/tensors/training_pass.h"

namespace foretrace::editing {

/// The part of one rank in a collective.
struct BucketMember {
  std::int32_t rank = 0;
  TaskId begin{};                ///< the arrival, or all of a collective that meets nobody
  TaskId finish = none<TaskId>;  ///< the transfer; none where it meets nobody
  TaskId call = none<TaskId>;
  std::int64_t moving_ns = 0;
  std::int64_t waiting_ns = 0;  ///< the rest of one that meets nobody

  [[nodiscard]] TaskId last() const { return finish == none<TaskId> ? begin : finish; }
};

struct RecordedBucket {
  TaskId join = none<TaskId>;  ///< where its ranks meet; none if they are not recorded
  double bytes = -1;           ///< -1: not recorded
  std::vector<BucketMember> members;
};

/// Collectives of one kind, communicator and backward pass, in launch order, each with one member
/// per pass.
struct BucketGroup {
  std::vector<TrainingPass> passes;  ///< of each member's rank
  std::vector<RecordedBucket> buckets;
};

/// Of a usual call of a group, and of the transfers of a pass, on one rank.
struct BucketTimes {
  std::int64_t call_ns = 0;
  std::int64_t host_ns = 0;     ///< before the call
  std::int64_t lag_ns = 0;      ///< from the call to its work
  std::int64_t latency_ns = 0;  ///< of one transfer
  double following_ns = 0;      ///< of all transfers, what follows their bytes
  std::int64_t waiting_ns = 0;
};
/// `latency_ns`: of a transfer, at most.
[[nodiscard]] BucketTimes times_of(const TaskGraph& graph, const BucketGroup& group,
                                   std::size_t member, std::int64_t latency_ns);

/// What find_gradient_transfers() finds, in groups.
[[nodiscard]] std::vector<BucketGroup> find_bucket_groups(const KernelEditor& editor);

/// Share of the device time of a backward pass that lies before a task in launch order.
[[nodiscard]] double backward_share(const KernelEditor& editor, const TrainingPass& pass,
                                    TaskId task);
/// The backward kernel that ends this share of the pass, or the next one with a call of its own.
[[nodiscard]] TaskId backward_kernel_at(const KernelEditor& editor, const TrainingPass& pass,
                                        double share);

}  // namespace foretrace::editing
