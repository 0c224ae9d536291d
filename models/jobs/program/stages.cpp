#include "models/jobs/program/stages.h"

#include <algorithm>
#include <array>

namespace foretrace {
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

bool keeps_gradients(const Job& job, const ParallelPlan& plan) {
  const Framework& framework = *job.framework;
  return framework.pipeline_keeps_collected && !framework.travel.by_tensor && job.trains() &&
         job.plan.pipeline > 1 && plan.sharding >= Sharding::gradients;
}

bool keeps_collected(const Job& job, const ParallelPlan& plan) {
  return plan.sharding == Sharding::parameters && keeps_gradients(job, plan);
}

double whole_gradients(const Job& job, std::uint32_t stage) {
  if (job.chunks < 2) return 1;
  std::vector<std::uint32_t> left(job.chunks, job.shape().micro_batches);
  std::uint32_t now = 0;
  std::uint32_t most = 0;
  for (const ScheduleStep& step : job.schedule->order(job.shape(), stage)) {
    const StepKind ends = job.schedule->splits_backward ? StepKind::weights : StepKind::backward;
    if (step.kind != ends) continue;
    if (left[step.chunk] == job.shape().micro_batches) most = std::max(most, ++now);
    if (--left[step.chunk] == 0) --now;
  }
  return static_cast<double>(most) / job.chunks;
}

bool keeps_last_collected(const Job& job, std::uint32_t position) {
  return job.framework->keeps_last_collected && !job.framework->travel.by_tensor &&
         position + 1 == job.plan.pipeline * job.chunks;
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

}  // namespace foretrace
