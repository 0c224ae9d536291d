// Stages of a pipeline: the plan of each, its ranks and their place, and how many layers it has.
#pragma once

#include <cstdint>
#include <vector>

#include "models/hardware/networks/placement.h"
#include "models/jobs/program/job.h"
#include "sim/core/result.h"

namespace foretrace {

/// The plan of one stage: that of the job, or its own ranks; with what is divided in fact.
[[nodiscard]] ParallelPlan stage_plan(const Job& job, std::uint32_t stage);
[[nodiscard]] std::uint32_t stage_ranks(const Job& job, std::uint32_t stage);
/// The first rank of a stage: ranks are numbered stage by stage.
[[nodiscard]] std::uint32_t first_rank(const Job& job, std::uint32_t stage);
/// Ranks that divide a micro-batch of the pipeline on this stage; 1 where it is one of a rank.
[[nodiscard]] std::uint32_t batch_parts(const Job& job, std::uint32_t stage);
/// True if sharded parameters stay collected from the first pass of a step to the last one, and
/// gradients are whole until then.
[[nodiscard]] bool keeps_collected(const Job& job, const ParallelPlan& plan);
/// True if gradients that are sharded are whole until the last pass of a step, too: where
/// parameters would stay collected.
[[nodiscard]] bool keeps_gradients(const Job& job, const ParallelPlan& plan);
/// Share of the gradients of a stage that are whole at the same time where keeps_gradients(): those
/// of a chunk from its first backward pass to its last one, the others divided.
[[nodiscard]] double whole_gradients(const Job& job, std::uint32_t stage);
/// True if sharded parameters of the last block of this position are not collected again for its
/// backward pass.
[[nodiscard]] bool keeps_last_collected(const Job& job, std::uint32_t position);
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

}  // namespace foretrace
