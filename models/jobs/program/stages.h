// Stages of a pipeline that are not alike: how many layers each has, and the ranks that share them
// (Zheng et al., Alpa, OSDI 2022).
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "models/hardware/networks/placement.h"
#include "models/jobs/parallelism/plan.h"
#include "models/jobs/program/block_program.h"
#include "sim/core/result.h"

namespace foretrace {

struct Job;
struct JobBlocks;

/// Consecutive layers of a model. Ranks of its own: those of a stage divide each micro-batch of the
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

/// The plan of one stage: that of the job, or its own ranks; with what is divided in fact.
[[nodiscard]] ParallelPlan stage_plan(const Job& job, std::uint32_t stage);
[[nodiscard]] std::uint32_t stage_ranks(const Job& job, std::uint32_t stage);
/// The first rank of a stage: ranks are numbered stage by stage.
[[nodiscard]] std::uint32_t first_rank(const Job& job, std::uint32_t stage);
/// Ranks that divide a micro-batch of the pipeline on this stage; 1 where it is one of a rank.
[[nodiscard]] std::uint32_t batch_parts(const Job& job, std::uint32_t stage);
/// From a stage to the next one, where stages have ranks of their own.
[[nodiscard]] GridAxis boundary_axis(const Job& job, std::uint32_t stage);
/// A rank of one stage and its counterpart on another one: the pair that lies farthest apart.
[[nodiscard]] Placement pair_placement(const Job& job, std::uint32_t from, std::uint32_t to);
/// From the first stage to the last one, which share a table.
[[nodiscard]] GridAxis embedding_axis(const Job& job);

/// Layers by position: as the stages say, or spread evenly. Where they do not divide so, first and
/// last have fewer: they have embedding and head.
[[nodiscard]] std::vector<std::uint32_t> layers_by_position(const Job& job);
[[nodiscard]] std::vector<std::uint32_t> even_layers(std::uint32_t layers, std::uint32_t positions);

/// Sums, ranks and places. Errors read "/parallelism/stages: got X, expected Y".
[[nodiscard]] Status check_stages(const Job& job);
/// Error: stages have ranks of their own, and the caller takes one plan for all.
[[nodiscard]] Status check_stages_alike(const Job& job);

/// lower_blocks() where stages have ranks of their own: each kind of stage has its blocks.
[[nodiscard]] JobBlocks lower_stages(const Job& job);

}  // namespace foretrace
