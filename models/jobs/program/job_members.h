// The members of a job one by one, for who compares, copies or names each.
#pragma once

#include <tuple>

#include "models/jobs/program/job.h"

namespace foretrace {

/// References to every member of a job, those of its plan and of its precisions one by one. A
/// member that is new does not compile until it is named here.
template <typename AnyJob>
[[nodiscard]] constexpr auto members_of(AnyJob& job) {
  auto& [model, cluster, framework, schedule, plan, stages, chunks, global_batch, micro_batch,
         length, keys, pass, recompute, precisions, sparse_gradients] = job;
  auto& [data, tensor, pipeline, context, expert, expert_tensor, sequence, sharding, shard_size,
         context_kind, balances_context, context_ring, tensor_pieces, async_tensor_backward] = plan;
  auto& [activations, layers_in_8_bit] = precisions;
  return std::tie(model, cluster, framework, schedule, data, tensor, pipeline, context, expert,
                  expert_tensor, sequence, sharding, shard_size, context_kind, balances_context,
                  context_ring, tensor_pieces, async_tensor_backward, stages, chunks, global_batch,
                  micro_batch, length, keys, pass, recompute, activations, layers_in_8_bit,
                  sparse_gradients);
}

}  // namespace foretrace
