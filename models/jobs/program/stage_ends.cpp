#include "models/jobs/program/stage_ends.h"

#include <algorithm>

#include "models/jobs/program/gradient_sum.h"
#include "models/jobs/times/two_lanes.h"
#include "models/jobs/workloads/layered.h"
#include "sim/core/whole.h"

namespace foretrace {
namespace {

// Of the optimizer, per parameter; 0 where none was recorded.
double recorded_update_ns(const TransformerSpec& model) {
  const bool is_known = model.layered != nullptr && model.layered->recorded.has_value();
  return is_known ? model.layered->recorded->update_ns : 0;
}

// What a window no longer sees is thrown away.
double kept_positions(const Job& job, const RankProgram::Block& layer) {
  const double all = job.pass == Pass::decode ? job.keys : job.length;
  return (layer.window > 0 ? std::min(all, layer.window) : all) / job.plan.context;
}

// Parameters of a block that are whole at the same time, beside those that always are.
double collected_at_once(const ShardTravel& travel, const RankProgram::Block& block) {
  const double all = block.collected_weights();
  if (!travel.by_tensor) return all;
  const auto largest = std::max_element(block.traveling.begin(), block.traveling.end());
  const double one = largest == block.traveling.end() ? 0 : *largest;
  return std::min(
      all, std::max(one, block.expert_weights) + travel.prefetch_elements + travel.reuse_elements);
}

}  // namespace

double StageEnds::collective_ns(const GridAxis& axis, CollectiveKind kind, double bytes) const {
  return scaled_collective_ns(*job_.cluster, axis, {kind, bytes, {}}, scale_);
}

// Sharded parameters: what every rank of the stage keeps.
void StageEnds::add_resident(const BlockRun& run, RankProgram::Stage& own) const {
  const std::uint32_t ranks = shard_axis(plan_).size;
  for (const double n : blocks_[run.block].traveling) {
    if (n >= job_.framework->travel.resident_elements) continue;
    own.resident += run.count * n;
    own.resident_parts += run.count * std::min<double>(n, ranks);
  }
}

RankProgram::Stage StageEnds::stage_sums(std::uint32_t stage) const {
  RankProgram::Stage own;
  bool has_embedding = false;
  bool has_head = false;
  double passing = 0;   // of a layer, forward
  double backward = 0;  // what is alive in one that runs backward
  for (std::uint32_t chunk = 0; chunk < job_.chunks; ++chunk) {
    for (const BlockRun& run : step_.position(position_at(stage, chunk))) {
      const RankProgram::Block& block = blocks_[run.block];
      own.dense += run.count * block.dense_weights;
      own.expert += run.count * block.expert_weights;
      own.tensors += run.count * block.tensors;
      has_embedding = has_embedding || block.role == BlockRole::embedding;
      has_head = has_head || block.role == BlockRole::head;
      if (plan_.sharding == Sharding::parameters) add_resident(run, own);
      if (block.role == BlockRole::layer) own.positions += run.count * kept_positions(job_, block);
      // Logits and losses of one micro-batch are gone when the next one comes.
      if (block.role == BlockRole::head) {
        own.head_kept += run.count * block.kept_bytes;
        own.working = std::max(own.working, own.head_kept);
      } else {
        own.kept += run.count * block.kept_bytes;
      }
      own.working = std::max(own.working, block.working_bytes);
      if (block.role == BlockRole::layer) {
        passing = std::max(passing, block.passing_bytes);
        backward = std::max(backward, block.working_bytes + block.gradient_bytes);
      }
      own.largest = std::max(own.largest, collected_at_once(job_.framework->travel, block));
    }
  }
  if (job_.framework->reserves_segments && job_.trains()) {
    // The first forward pass takes segments for layers, and then those of the head, which serve
    // layers that run backward: no more of them than the head had.
    const double all = std::max(own.head_kept + std::min(passing, own.head_kept), backward);
    own.segments = std::max(0.0, all - own.working);
  }
  const double tied = program_.tied_weights / (job_.has_own_ranks() ? plan_.tensor : 1);
  if (has_embedding && has_head) own.tied_here = tied;
  if (has_embedding != has_head) own.tied_away = tied;
  return own;
}

double StageEnds::reduction_ns(double dense, double expert) {
  if (dense == bucket_dense_ && expert == bucket_expert_) return bucket_ns_;
  const double bytes = job_.framework->reduce_bytes;
  bucket_dense_ = dense;
  bucket_expert_ = expert;
  bucket_ns_ = 0;
  for (const GradientSum& sum : gradient_sums(plan_, dense * bytes, expert * bytes)) {
    bucket_ns_ += gradient_sum_ns(job_, sum.axis, {sum.kind, sum.bytes, {}}, scale_);
  }
  return bucket_ns_;
}

double StageEnds::gradient_ns(const Exchange& stated) const {
  const double ns =
      gradient_sum_ns(job_, gradient_axis(plan_, stated), {stated.kind, stated.bytes, {}}, scale_);
  return ns > 0 ? ns + stated.delay_ns : 0;
}

// What is started while the last micro-batch runs backward: as much of it as nothing hides.
// `start` is called when a block is done, and with none at the end.
template <typename Start>
double StageEnds::beside_backward(std::uint32_t stage, const Start& start) const {
  TwoLanes lanes(job_.framework->communication_slowdown.typical);
  double computed = 0;
  for (std::uint32_t chunk = job_.chunks; chunk-- > 0;) {
    const std::vector<std::uint32_t> blocks = expanded(step_.position(position_at(stage, chunk)));
    for (std::size_t i = blocks.size(); i-- > 0;) {
      const RankProgram::Block& block = blocks_[blocks[i]];
      const double ns = block.backward.time.in_a_row();
      lanes.compute(ns, job_.framework->product_slowdown.typical);
      computed += ns;
      start(lanes, &block);
    }
  }
  start(lanes, nullptr);
  static_cast<void>(lanes.wait_all());
  return lanes.now() - computed;
}

// Recorded layers have collectives of their own; of others, buckets leave.
double StageEnds::exposed_reduction(std::uint32_t stage, double dense, double expert) {
  if (program_.states_gradients()) {
    return beside_backward(stage, [this](TwoLanes& lanes, const RankProgram::Block* block) {
      if (block == nullptr) return;
      for (const Exchange& stated : block->gradients) {
        if (const double ns = gradient_ns(stated); ns > 0) static_cast<void>(lanes.start(ns));
      }
    });
  }
  if (!job_.framework->overlaps_gradients) return reduction_ns(dense, expert);
  GradientBuckets buckets(*job_.framework, plan_);
  double waiting_dense = 0;
  double waiting_expert = 0;
  return beside_backward(stage, [&](TwoLanes& lanes, const RankProgram::Block* block) {
    const auto go = [&] {
      static_cast<void>(lanes.start(reduction_ns(waiting_dense, waiting_expert)));
      waiting_dense = waiting_expert = 0;
    };
    if (block == nullptr) {
      if (waiting_dense + waiting_expert > 0) go();
      return;
    }
    for (const double elements : block->ready) {
      waiting_dense += elements;
      if (buckets.goes(waiting_dense + waiting_expert)) go();
    }
    if (!block->ready.empty()) return;
    waiting_dense += block->dense_weights;
    waiting_expert += block->expert_weights;
    if (buckets.goes(waiting_dense + waiting_expert)) go();
  });
}

// The first bucket has nothing to hide behind, the others have the first forward pass.
void StageEnds::collect_parameters(std::uint32_t stage, RankProgram::Stage& own) const {
  const double dense = own.dense - own.tied_here;
  const double bytes = job_.framework->gather_bytes;
  const double all =
      collective_ns(shard_axis(plan_), CollectiveKind::all_gather, dense * bytes) +
      collective_ns(expert_copies(plan_), CollectiveKind::all_gather, own.expert * bytes);
  own.parameters = to_whole(all);
  if (!job_.framework->overlaps_parameters || !(all > 0)) return;
  const double bucket = GradientBuckets(*job_.framework, plan_).usual_elements();
  const double first = all * std::min(1.0, bucket / std::max(dense + own.expert, 1.0));
  double window = 0;
  for (std::uint32_t chunk = 0; chunk < job_.chunks; ++chunk) {
    window += step_.forward[position_at(stage, chunk)].in_a_row();
  }
  const double hidden =
      std::min(all - first, window / job_.framework->communication_slowdown.typical);
  own.parameters = to_whole(all - hidden);
  own.late_share = std::min(1.0, static_cast<double>(own.parameters) / all);
}

// Parameters that stay collected: what the first passes wait for them. Returns the time of their
// gradients, which leave when all passes are over.
double StageEnds::once_a_step(std::uint32_t stage, const ShardedPasses& sharded,
                              RankProgram::Stage& own) const {
  double collected = 0;
  double divided = 0;
  for (std::uint32_t chunk = 0; chunk < job_.chunks; ++chunk) {
    const auto runs = step_.position(position_at(stage, chunk));
    collected += sharded.collected_ns(runs);
    divided += sharded.divided_ns(runs);
  }
  const double bytes = job_.framework->gather_bytes;
  const double all =
      collective_ns(shard_axis(plan_), CollectiveKind::all_gather,
                    (own.dense - own.tied_here) * bytes) +
      collective_ns(expert_copies(plan_), CollectiveKind::all_gather, own.expert * bytes);
  own.parameters = to_whole(collected);
  if (all > 0) own.late_share = std::min(1.0, collected / all);
  return divided;
}

double StageEnds::update_ns(const RankProgram::Stage& own) const {
  const bool is_whole = plan_.sharding == Sharding::none;
  const double share = is_whole ? 1 : 1.0 / plan_.shards();
  const double expert_share = is_whole ? 1 : 1.0 / std::max(1U, expert_copies(plan_).size);
  const double updated = (own.dense - own.tied_here) * share + own.expert * expert_share;
  if (const double recorded = recorded_update_ns(*job_.model); recorded > 0) {
    return updated * recorded * scale_[static_cast<std::size_t>(CostSource::recorded)];
  }
  const double device = kernels_.move(updated * job_.framework->update_bytes, 10).ns *
                        scale_[static_cast<std::size_t>(CostSource::memory)];
  const double host = own.tensors * job_.framework->update_kernels *
                      job_.framework->host_kernel_ns.typical *
                      scale_[static_cast<std::size_t>(CostSource::host)];
  return std::max(device, host);
}

void StageEnds::end_stage(std::uint32_t stage, RankProgram::Stage& own) {
  const double dense = own.dense - own.tied_here;
  const Sharding sharding = plan_.sharding;
  double reduction =
      sharding == Sharding::parameters ? 0 : exposed_reduction(stage, dense, own.expert);
  const ShardedPasses sharded(job_, plan_, blocks_, scale_, kernels_);
  const ShardedPasses::ResidentCollection residents = sharded.resident_collection(own);
  own.parameters = to_whole(residents.gather);
  if (keeps_collected(job_, plan_)) reduction = once_a_step(stage, sharded, own);
  if (own.tied_away > 0) {
    reduction += collective_ns(embedding_axis(job_), CollectiveKind::all_reduce,
                               own.tied_away * job_.framework->reduce_bytes);
  }
  own.gradients = to_whole(reduction);
  if (sharding == Sharding::optimizer || sharding == Sharding::gradients) {
    collect_parameters(stage, own);
  }
  own.update = to_whole(update_ns(own) + residents.host);
}

// Stages in the middle are mostly alike.
bool StageEnds::is_as_before(std::uint32_t stage) const {
  if (stage == 0 || stage_plan(job_, stage) != stage_plan(job_, stage - 1)) return false;
  for (std::uint32_t chunk = 0; chunk < job_.chunks; ++chunk) {
    const auto here = step_.position(position_at(stage, chunk));
    const auto before = step_.position(position_at(stage - 1, chunk));
    if (!std::equal(here.begin(), here.end(), before.begin(), before.end())) return false;
  }
  return true;
}

std::vector<RankProgram::Stage> StageEnds::all() {
  std::vector<RankProgram::Stage> stages;
  stages.reserve(job_.plan.pipeline);
  for (std::uint32_t stage = 0; stage < job_.plan.pipeline; ++stage) {
    if (is_as_before(stage)) {
      stages.push_back(stages.back());
      continue;
    }
    if (job_.has_own_ranks()) {
      plan_ = stage_plan(job_, stage);
      bucket_dense_ = bucket_expert_ = -1;
    }
    stages.push_back(stage_sums(stage));
    if (job_.trains()) end_stage(stage, stages.back());
  }
  return stages;
}

}  // namespace foretrace
