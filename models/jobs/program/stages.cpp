#include "models/jobs/program/stages.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace foretrace {
namespace {

Error refuse(const std::string& what) {
  return Error{ErrorCode::bad_config, "/parallelism/stages" + what};
}

// Groups inside a node, or of whole nodes: only so do all ranks of a stage have the same links.
Status check_place(const Job& job, std::uint32_t stage) {
  const std::uint32_t node = std::max(job.cluster->node_accelerators, 1U);
  const std::uint32_t first = first_rank(job, stage);
  const std::uint32_t ranks = stage_ranks(job, stage);
  const bool fits = ranks <= node ? first % node + ranks <= node : first % node == 0;
  if (fits) return ok_status();
  return refuse(
      fmt::format("/{}: got ranks {} to {}, expected them in one node of {}, or at the "
                  "beginning of one",
                  stage, first, first + ranks - 1, node));
}

Status check_own_ranks(const Job& job, std::uint32_t stage) {
  const StageShare& share = job.stages[stage];
  const ParallelPlan plan = stage_plan(job, stage);
  if (!share.has_own_ranks()) {
    return refuse(
        fmt::format("/{}: got no ranks, expected data and tensor as the others have "
                    "them",
                    stage));
  }
  if (Status status = check_plan(plan, *job.model); !status.ok()) {
    return refuse(fmt::format("/{}/{}", stage, status.error().message));
  }
  const double per_rank = job.micro_batch / share.data;
  if (per_rank < 1 || per_rank != std::floor(per_rank)) {
    return refuse(fmt::format("/{}/data: got {}, expected a divisor of the micro-batch of {}",
                              stage, share.data, job.micro_batch));
  }
  if (job.schedule->splits_backward && share.recompute == Recompute::full) {
    return refuse(
        fmt::format("/{}/recompute: got full, expected none or selective: {} delays "
                    "gradients of weights, which need the activations",
                    stage, job.schedule->name));
  }
  return check_place(job, stage);
}

}  // namespace

ParallelPlan stage_plan(const Job& job, std::uint32_t stage) {
  ParallelPlan plan = job.plan;
  if (job.has_own_ranks()) {
    const StageShare& share = job.stages[stage];
    plan.pipeline = 1;  // the stages make no grid together
    plan.data = share.data;
    plan.tensor = share.tensor;
    plan.sequence = share.tensor > 1;
    plan.sharding = share.sharding;
  }
  plan.sharding = real_sharding(plan, job.model->experts.count > 0);
  return plan;
}

std::uint32_t stage_ranks(const Job& job, std::uint32_t stage) {
  if (!job.has_own_ranks()) return job.plan.ranks() / job.plan.pipeline;
  return job.stages[stage].data * job.stages[stage].tensor;
}

std::uint32_t first_rank(const Job& job, std::uint32_t stage) {
  if (!job.has_own_ranks()) return stage * stage_ranks(job, stage);
  std::uint32_t first = 0;
  for (std::uint32_t before = 0; before < stage; ++before) first += stage_ranks(job, before);
  return first;
}

std::uint32_t batch_parts(const Job& job, std::uint32_t stage) {
  return job.has_own_ranks() ? job.stages[stage].data : 1;
}

GridAxis boundary_axis(const Job& job, std::uint32_t stage) {
  const std::uint32_t node = std::max(job.cluster->node_accelerators, 1U);
  const std::uint32_t first = first_rank(job, stage);
  const std::uint32_t last = first_rank(job, stage + 1) + stage_ranks(job, stage + 1) - 1;
  if (first / node == last / node) return {2, 1};
  return {2, std::max(node, stage_ranks(job, stage))};
}

Placement pair_placement(const Job& job, std::uint32_t from, std::uint32_t to) {
  const auto [low, high] = std::minmax(from, to);
  if (job.has_own_ranks()) return place(*job.cluster, boundary_axis(job, low));
  // Ranks of the nearer stage up to the last one of a node: the farther that one is behind its
  // first rank, the sooner the counterpart lies on another node.
  const std::uint32_t node = std::max(job.cluster->node_accelerators, 1U);
  const std::uint32_t ranks = stage_ranks(job, low);
  const std::uint32_t begin = low * ranks;
  const std::uint32_t near = begin + std::min(ranks - 1, node - 1 - begin % node);
  const std::array pair = {static_cast<std::int32_t>(near),
                           static_cast<std::int32_t>(near + (high - low) * ranks)};
  return place_ranks(*job.cluster, pair);
}

GridAxis embedding_axis(const Job& job) {
  if (!job.has_own_ranks()) return axis_of(job.plan, Axis::embedding);
  return {2, first_rank(job, job.plan.pipeline - 1), job.ranks()};
}

std::vector<std::uint32_t> even_layers(std::uint32_t layers, std::uint32_t positions) {
  std::vector<std::uint32_t> room(positions, layers / positions);
  std::uint32_t rest = layers % positions;
  for (std::uint32_t i = 1; rest > 0 && i + 1 < positions; ++i, --rest) ++room[i];
  if (rest > 0) ++room[0], --rest;
  if (rest > 0) ++room[positions - 1];
  return room;
}

std::vector<std::uint32_t> layers_by_position(const Job& job) {
  if (job.stages.empty()) return even_layers(job.model->layers, job.plan.pipeline * job.chunks);
  std::vector<std::uint32_t> layers;
  layers.reserve(job.stages.size());
  for (const StageShare& share : job.stages) layers.push_back(share.layers);
  return layers;
}

Status check_stages(const Job& job) {
  if (job.stages.empty()) return ok_status();
  const std::uint64_t positions = std::uint64_t{job.plan.pipeline} * job.chunks;
  if (job.stages.size() != positions) {
    return refuse(fmt::format(": got {}, expected one for each of {} stages x {} chunks",
                              job.stages.size(), job.plan.pipeline, job.chunks));
  }
  std::uint64_t layers = 0;
  for (std::size_t i = 0; i < job.stages.size(); ++i) {
    if (job.stages[i].layers == 0) {
      return refuse(fmt::format("/{}/layers: got 0, expected at least 1", i));
    }
    layers += job.stages[i].layers;
  }
  if (layers != job.model->layers) {
    return refuse(
        fmt::format(": got {} layers, expected the {} of the model", layers, job.model->layers));
  }
  if (!job.has_own_ranks()) return ok_status();
  const ParallelPlan& plan = job.plan;
  if (plan.ranks() != plan.pipeline || plan.expert > 1 || plan.sharding != Sharding::none ||
      plan.shard_size > 0 || job.chunks > 1) {
    return refuse(
        ": got ranks of their own, expected data, tensor, context, expert, sharding and "
        "chunks of the whole pipeline left out");
  }
  if (!job.trains()) {
    return refuse(": got ranks of their own, expected layers alone for inference");
  }
  for (std::uint32_t stage = 0; stage < plan.pipeline; ++stage) {
    FORETRACE_TRY(check_own_ranks(job, stage));
  }
  return ok_status();
}

Status check_stages_alike(const Job& job) {
  if (!job.has_own_ranks()) return ok_status();
  return Error{ErrorCode::unsupported,
               "/parallelism/stages: got stages with ranks of their own, expected layers alone: "
               "programs of single ranks are those of one plan"};
}

}  // namespace foretrace
