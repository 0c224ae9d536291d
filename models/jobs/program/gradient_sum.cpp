#include "models/jobs/program/gradient_sum.h"

#include <algorithm>

#include "models/hardware/collectives/sparse_costs.h"
#include "models/hardware/costs/rates.h"
#include "models/jobs/program/sharded_passes.h"

namespace foretrace {
namespace {

// 40 million, or one million per rank (Megatron-LM, param_and_grad_buffer.py).
constexpr double least_bucket_elements = 40e6;
constexpr double bucket_elements_per_rank = 1e6;

double device_bytes(const CollectiveCall& call, const SparseSum& sum) {
  if (sum.method != SparseMethod::all_gather) return call.bytes;
  const double density = blocks_of_nodes(sum.blocks, call.group.per_node).density;
  return call.bytes * (1 + adding_passes * (call.group.nodes - 1) * density);
}

}  // namespace

GradientBuckets::GradientBuckets(const Framework& framework, const ParallelPlan& plan)
    : usual_(std::max(least_bucket_elements, bucket_elements_per_rank * plan.copies())),
      limit_(usual_) {
  if (!(framework.bucket_bytes > 0) || !(framework.reduce_bytes > 0)) return;
  usual_ = limit_ = framework.bucket_bytes / framework.reduce_bytes;
  if (framework.first_bucket_bytes > 0) {
    limit_ = std::min(usual_, framework.first_bucket_bytes / framework.reduce_bytes);
  }
}

double gradient_sum_ns(const Job& job, const GridAxis& axis, CollectiveCall call,
                       const SourceScale& scale) {
  call.group = place(*job.cluster, axis);
  const bool is_sparse = job.sparse_gradients && call.kind == CollectiveKind::all_reduce &&
                         call.group.nodes > 1 && call.bytes > 0;
  if (!is_sparse) return scaled_collective_ns(*job.cluster, axis, call, scale);
  SparseSum sum = *job.sparse_gradients;
  // Recorded exchanges do not say how long their numbers are: as usual.
  if (job.framework->reduce_bytes > 0) sum.blocks.number_bytes = job.framework->reduce_bytes;
  const double rate = memory_rate(job.cluster->accelerator, KernelClass::elementwise);
  return sparse_sum_ns(*job.cluster, call, sum) *
             scale[static_cast<std::size_t>(CostSource::network)] +
         device_bytes(call, sum) / rate * 1e9 * scale[static_cast<std::size_t>(CostSource::memory)];
}

std::array<GradientSum, 3> gradient_sums(const ParallelPlan& plan, double dense_bytes,
                                         double expert_bytes) {
  if (plan.sharding == Sharding::none) {
    return {{{axis_of(plan, Axis::data), CollectiveKind::all_reduce, dense_bytes},
             {},
             {expert_copies(plan), CollectiveKind::all_reduce, expert_bytes}}};
  }
  const GridAxis shards = shard_axis(plan);
  return {{{shards, CollectiveKind::reduce_scatter, dense_bytes},
           {replica_axis(plan), CollectiveKind::all_reduce, dense_bytes / shards.size},
           {expert_copies(plan), CollectiveKind::reduce_scatter, expert_bytes}}};
}

}  // namespace foretrace
