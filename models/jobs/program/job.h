// A job: a model in training on a cluster under a plan.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/hardware/collectives/sparse_sum.h"
#include "models/hardware/networks/cluster.h"
#include "models/jobs/parallelism/plan.h"
#include "models/jobs/schedules/schedule.h"
#include "models/jobs/times/framework.h"
#include "models/jobs/times/precisions.h"
#include "models/jobs/workloads/model_spec.h"
#include "sim/core/result.h"
#include "sim/core/whole.h"

namespace foretrace {

enum class Recompute : std::uint8_t {
  none,
  selective,  ///< the core of attention
  full,       ///< all of a layer
  operators,  ///< all but attention and every second product (torchtitan's "selective, op")
};
[[nodiscard]] std::string_view to_string(Recompute recompute);

/// Consecutive layers of a model as one stage of a pipeline; stages need not be alike (Zheng et
/// al., Alpa, OSDI 2022). Ranks of its own: those of a stage divide each micro-batch of the
/// pipeline, and the products of its layers.
struct StageShare {
  std::uint32_t layers = 1;
  std::uint32_t data = 0;  ///< 0: the stage has no ranks of its own, the plan says how many
  std::uint32_t tensor = 1;
  Sharding sharding = Sharding::none;
  Recompute recompute = Recompute::none;

  [[nodiscard]] bool has_own_ranks() const { return data > 0; }
  // NOLINTNEXTLINE(modernize-use-nullptr): no pointer is written here
  friend auto operator<=>(const StageShare&, const StageShare&) = default;
};

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
  [[nodiscard]] ScheduleShape shape() const { return {plan.pipeline, micro_batches(), chunks}; }
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

/// So many sequences in a pass of it, in numbers of the usual length.
[[nodiscard]] BatchShape batch_of(const Job& job, double sequences);
/// The framework's, at the job's precision.
[[nodiscard]] KernelSet kernel_set(const Job& job);

/// Checks plan, schedule, batch and size of the machine. Errors read "/parallelism/tensor: ...".
[[nodiscard]] Status check_job(const Job& job);
/// Products need units for their numbers: without, a time would be made up. Error: bad_config.
[[nodiscard]] Status check_precision(const Precisions& precisions, const Accelerator& accelerator);

}  // namespace foretrace
