// Passes of stages whose parameters are sharded: they come together for a pass and leave again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/hardware/collectives/collective_costs.h"
#include "models/jobs/program/rank_program.h"
#include "models/jobs/times/kernel_times.h"
#include "models/jobs/times/tensor_travel.h"
#include "models/jobs/times/two_lanes.h"

namespace foretrace {

/// In ns, at the scale of its links. The call's group is that of the axis.
[[nodiscard]] double scaled_collective_ns(const Cluster& cluster, const GridAxis& axis,
                                          CollectiveCall call, const SourceScale& scale);
/// The same of a call that has its group.
[[nodiscard]] double placed_collective_ns(const Cluster& cluster, const CollectiveCall& call,
                                          const SourceScale& scale);
/// Blocks of runs one by one.
[[nodiscard]] std::vector<std::uint32_t> expanded(std::span<const BlockRun> runs);
/// A pass where nothing is sharded.
[[nodiscard]] PassTime plain_pass(const std::vector<RankProgram::Block>& blocks,
                                  std::span<const BlockRun> runs, bool backward);

/// Of one stage. References live longer than it.
class ShardedPasses {
 public:
  ShardedPasses(const Job& job, const ParallelPlan& plan,
                const std::vector<RankProgram::Block>& blocks, const SourceScale& scale,
                const KernelTimes& kernels)
      : job_(job),
        plan_(plan),
        blocks_(blocks),
        scale_(scale),
        kernels_(kernels),
        dense_(shard_axis(plan)),
        expert_(expert_copies(plan)) {}

  /// `keeps_last`: of the last block nothing is collected again for the backward pass.
  [[nodiscard]] PassTime pass(std::span<const BlockRun> runs, bool backward,
                              bool keeps_last = false) const;
  /// What collecting the blocks adds to their first pass. In ns.
  [[nodiscard]] double collected_ns(std::span<const BlockRun> runs) const;
  /// Of their gradients, when nothing runs beside it. In ns.
  [[nodiscard]] double divided_ns(std::span<const BlockRun> runs) const;
  /// Of the tensors that stay on every rank, until they have come together after an update. In ns.
  struct ResidentCollection {
    double gather = 0;
    double host = 0;  ///< before it
  };
  [[nodiscard]] ResidentCollection resident_collection(const RankProgram::Stage& stage) const;

 private:
  [[nodiscard]] double collective_ns(const GridAxis& axis, CollectiveKind kind, double bytes) const;
  [[nodiscard]] double moved_ns(double bytes, std::uint32_t kernels = 1) const;
  [[nodiscard]] double gather_ns(double elements, const GridAxis& shards) const;
  [[nodiscard]] double scatter_ns(double dense, double expert) const;
  [[nodiscard]] static PassTime waited_for(TwoLanes& lanes, PassTime sum, double beside);
  [[nodiscard]] PassTime block_by_block(std::span<const BlockRun> runs, bool backward,
                                        bool keeps_last) const;
  [[nodiscard]] double host_of_parts(double parts, double ns) const;
  [[nodiscard]] TensorUse use_of(double elements, bool is_expert, bool is_there,
                                 bool reduces) const;
  void add_uses(const RankProgram::Block& block, bool backward, std::vector<TensorUse>& uses) const;
  [[nodiscard]] PassTime tensor_by_tensor(std::span<const BlockRun> runs, bool backward) const;

  const Job& job_;
  const ParallelPlan& plan_;
  const std::vector<RankProgram::Block>& blocks_;
  const SourceScale& scale_;
  const KernelTimes& kernels_;
  GridAxis dense_;   // ranks that share parameters
  GridAxis expert_;  // and those of experts
};

}  // namespace foretrace
