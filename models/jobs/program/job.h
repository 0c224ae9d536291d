// A job: a model in training on a cluster under a plan; and its blocks as one rank runs them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/hardware/collectives/sparse_sum.h"
#include "models/hardware/networks/cluster.h"
#include "models/jobs/parallelism/plan.h"
#include "models/jobs/program/block_program.h"
#include "models/jobs/program/stages.h"
#include "models/jobs/schedules/schedule.h"
#include "models/jobs/times/framework.h"
#include "models/jobs/workloads/model_spec.h"
#include "sim/core/params.h"
#include "sim/core/result.h"
#include "sim/core/whole.h"

namespace foretrace {

/// Everything that decides how long a step takes. Pointers are not owned and never null.
struct Job {
  const TransformerSpec* model = nullptr;
  const Cluster* cluster = nullptr;
  const Framework* framework = nullptr;
  const ScheduleInfo* schedule = nullptr;
  ParallelPlan plan;
  /// By position, where stages are not alike; empty: layers are spread evenly.
  std::vector<StageShare> stages{};
  std::uint32_t chunks = 1;  ///< of the model per pipeline stage
  double global_batch = 1;   ///< sequences per step
  /// Sequences per pass of one rank; of the pipeline where stages have ranks of their own.
  double micro_batch = 1;
  double length = 2048;  ///< tokens of a sequence
  double keys = 0;       ///< decode: positions attended to
  Pass pass = Pass::training;
  Recompute recompute = Recompute::none;
  Precisions precisions;
  /// All-reduces of gradients between nodes move blocks that are not all zero.
  std::optional<SparseSum> sparse_gradients{};

  [[nodiscard]] std::uint32_t micro_batches() const {
    const double per_rank = global_batch / plan.data;
    return to_count(per_rank / micro_batch);
  }
  /// True if a step works on samples that have no tokens: each counts as a sequence of one.
  [[nodiscard]] bool has_samples() const { return model->layered != nullptr; }
  /// Decoding writes one token of each sequence.
  [[nodiscard]] double tokens_per_step() const {
    return global_batch * (pass == Pass::decode ? 1 : length);
  }
  [[nodiscard]] bool has_own_ranks() const {
    return !stages.empty() && stages.front().has_own_ranks();
  }
  [[nodiscard]] std::uint32_t ranks() const {
    if (!has_own_ranks()) return plan.ranks();
    std::uint32_t sum = 0;
    for (const StageShare& share : stages) sum += share.data * share.tensor;
    return sum;
  }
  [[nodiscard]] bool trains() const { return pass == Pass::training; }
  // NOLINTNEXTLINE(modernize-use-nullptr): no pointer is written here
  friend auto operator<=>(const Job&, const Job&) = default;
};

/// The framework's, at the job's precision.
[[nodiscard]] KernelSet kernel_set(const Job& job);

/// Checks plan, schedule, batch and size of the machine. Errors read "/parallelism/tensor: ...".
[[nodiscard]] Status check_job(const Job& job);
/// Products need units for their numbers: without, a time would be made up. Error: bad_config.
[[nodiscard]] Status check_precision(const Precisions& precisions, const Accelerator& accelerator);

/// A block of the model as one rank has it.
struct RankBlock {
  BlockRole role = BlockRole::layer;
  std::string name;
  BlockProgram program;
  friend bool operator==(const RankBlock&, const RankBlock&) = default;
};
struct JobBlocks {
  std::vector<RankBlock> blocks;
  std::vector<BlockRun> order;
  double clock = 1;                ///< of matrix units, against the slowest measured one
  double attention_intensity = 1;  ///< rate of attention against that of large products
  double tied_weights = 0;         ///< of the table that embedding and head share; 0: none
  double hidden_bytes = 0;  ///< activation between two blocks on this rank, of one micro-batch
  friend bool operator==(const JobBlocks&, const JobBlocks&) = default;
};

/// Builds the model, divides it and gives every action its time.
[[nodiscard]] JobBlocks build_blocks(const Job& job);
/// The same at the typical clock.
[[nodiscard]] JobBlocks lower_blocks(const Job& job);
/// The job without what lower_blocks() does not depend on, so that jobs for which it is equal share
/// their blocks. It leaves out, and does not list what stays: a new member of jobs is part of it.
[[nodiscard]] Job job_of_blocks(Job job);
/// What turns times of lower_blocks() into those of build_blocks(). Of jobs with the same blocks it
/// depends on clock_share() alone.
[[nodiscard]] SourceScale settled_scale(const Job& job, const JobBlocks& lowered);
/// Share of a stage's own work that it waits for others, at both ends of a step; 0 where the
/// clock does not follow the load.
[[nodiscard]] double clock_share(const Job& job);

/// Where the group of an axis lies.
[[nodiscard]] Placement placement_of(const Job& job, Axis axis);

/// Times of a block's passes.
struct BlockTimes {
  BlockRole role = BlockRole::layer;
  PassTime forward;
  PassTime backward;
  PassTime weights;  ///< schedules that split backward
  double dense_weights = 0;
  double expert_weights = 0;
  /// Of recorded layers: their own collectives of gradients, instead of buckets of the framework.
  std::vector<GradientExchange> gradients;
  std::uint32_t tensors = 0;
  std::vector<double> traveling;  ///< see BlockProgram
  double kept_bytes = 0;
  double working_bytes = 0;
  double input_bytes = 0;
  double window = 0;  ///< see BlockProgram
  friend bool operator==(const BlockTimes&, const BlockTimes&) = default;
};
[[nodiscard]] std::vector<BlockTimes> time_blocks(const Job& job, const JobBlocks& blocks,
                                                  const SourceScale& scale);

/// Blocks by position, which has so many layers. The embedding comes first, the head last.
[[nodiscard]] std::vector<std::vector<BlockRun>> partition(const std::vector<BlockRun>& order,
                                                           const std::vector<BlockTimes>& blocks,
                                                           std::vector<std::uint32_t> layers);

}  // namespace foretrace
