// How a job is spread over ranks: the size of every kind of parallelism, and the grid they make.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/hardware/networks/placement.h"
#include "models/jobs/workloads/context_ring.h"
#include "models/jobs/workloads/operator.h"
#include "models/jobs/workloads/transformer.h"
#include "sim/core/result.h"

namespace foretrace {

/// What ranks of a data-parallel group divide among them instead of repeating it.
enum class Sharding : std::uint8_t {
  none,
  optimizer,   ///< optimizer states (ZeRO-1, distributed optimizer)
  gradients,   ///< and gradients (ZeRO-2)
  parameters,  ///< and parameters (ZeRO-3, FSDP)
};

enum class ContextKind : std::uint8_t {
  ring,        ///< keys and values go round while attention runs; causal work is balanced
  all_gather,  ///< keys and values of all ranks first
  all_to_all,  ///< heads instead of positions inside attention (Ulysses)
};

struct ParallelPlan {
  std::uint32_t data = 1;
  std::uint32_t tensor = 1;
  std::uint32_t pipeline = 1;
  std::uint32_t context = 1;
  std::uint32_t expert = 1;  ///< divides data x context (and tensor if experts are whole)
  /// Ranks that divide one expert: 1 or `tensor`. 0: not decided, see usual_expert_tensor().
  std::uint32_t expert_tensor = 1;
  bool sequence = false;  ///< sequence parallelism in the tensor group
  Sharding sharding = Sharding::none;
  std::uint32_t shard_size = 0;  ///< ranks that share one copy (HSDP); 0: the whole data group
  ContextKind context_kind = ContextKind::ring;
  bool balances_context = true;       ///< causal work is the same on every rank
  ContextRing context_ring;           ///< of the framework
  bool tensor_pieces = false;         ///< tensor collectives run piece by piece beside products
  bool async_tensor_backward = true;  ///< input gradients are added up while weight gradients run

  [[nodiscard]] std::uint32_t ranks() const { return data * tensor * pipeline * context; }
  [[nodiscard]] std::uint32_t model_ranks() const { return tensor * pipeline * context; }
  /// Ranks that hold the same parameters of dense layers.
  [[nodiscard]] std::uint32_t copies() const { return data * context; }
  [[nodiscard]] std::uint32_t shards() const { return shard_size > 0 ? shard_size : copies(); }
  // NOLINTNEXTLINE(modernize-use-nullptr,readability-implicit-bool-conversion): neither is written
  friend auto operator<=>(const ParallelPlan&, const ParallelPlan&) = default;
};

/// Neighbours of a rank along an axis: tensor ranks are next to each other, then context, data and
/// pipeline. Gradients are reduced over data x context; an expert's copies lie `expert` apart.
[[nodiscard]] GridAxis axis_of(const ParallelPlan& plan, Axis axis);
/// Micro-batches whose tokens meet at the experts of one group of ranks. Less than one where a rank
/// of the group has a part of its micro-batch.
[[nodiscard]] double expert_batches(const ParallelPlan& plan);
/// What divides an expert where nobody says it: the tensor group, as in Megatron-Core
/// (megatron/training/arguments.py: expert_tensor_parallel_size is tensor_model_parallel_size
/// unless given). 1 for a model without experts.
[[nodiscard]] std::uint32_t usual_expert_tensor(const ParallelPlan& plan,
                                                const TransformerSpec& spec);
/// Ranks that share one copy of sharded parameters, and those that hold the same shard.
[[nodiscard]] GridAxis shard_axis(const ParallelPlan& plan);
[[nodiscard]] GridAxis replica_axis(const ParallelPlan& plan);
/// The copies of an expert.
[[nodiscard]] GridAxis expert_copies(const ParallelPlan& plan);
/// What the plan divides in fact: nothing where a single rank would hold all parts.
[[nodiscard]] Sharding real_sharding(const ParallelPlan& plan, bool has_experts);

/// One kind of parallelism: a file of this folder.
struct ParallelismInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view paper;
  std::span<const std::string_view> assumptions;
  int order = 0;  ///< in which kinds rewrite a block
  /// Error: the model cannot be divided so; "tensor: got 7, expected a divisor of the 96 heads".
  Status (*check)(const ParallelPlan& plan, const TransformerSpec& spec) = nullptr;
  /// Operators of a whole block become those of one rank.
  void (*divide)(Block& block, const ParallelPlan& plan) = nullptr;
};

namespace parallelism {
[[nodiscard]] std::span<const ParallelismInfo* const> all();
}  // namespace parallelism

/// Every kind's check.
[[nodiscard]] Status check_plan(const ParallelPlan& plan, const TransformerSpec& spec);
/// Every kind's rewriting, in order.
void divide(Workload& workload, const ParallelPlan& plan);

}  // namespace foretrace
