// Memory of a rank: states by how they are sharded, activations by how many micro-batches are in
// flight. Rules: Korthikanti et al., MLSys 2023, Table 2; Rajbhandari et al., ZeRO, SC 2020.
#include <algorithm>

#include "models/hardware/kernels/kernel_class.h"
#include "models/jobs/program/estimate.h"
#include "models/jobs/program/stages.h"

namespace foretrace {
namespace {

// Micro-batches in flight, in whole stages: chunks held over chunks of a stage.
double in_flight(const Job& job, std::uint32_t stage) {
  return static_cast<double>(most_in_flight(*job.schedule, job.shape(), stage)) / job.chunks;
}

// What a rank holds of every kind of state: all of it, or its share from this sharding on.
double held_bytes(const ParallelPlan& plan, const RankProgram::Stage& sums, double bytes,
                  Sharding from) {
  if (plan.sharding < from) return bytes * (sums.dense + sums.expert);
  const double expert_shards = std::max(1U, expert_copies(plan).size);
  return bytes * (sums.dense / plan.shards() + sums.expert / expert_shards);
}

// Keys and values of one layer and position on one rank; with low ranks what they are made from.
double cached_numbers(const Job& job) {
  const TransformerSpec& spec = *job.model;
  if (spec.latent.key_rank > 0) return spec.latent.key_rank + spec.latent.rope_size;
  return 2 * std::max(1.0, spec.kv_heads / job.plan.tensor) * spec.head_size;
}

// Sharded parameters that stay collected lie beside their shares; those of experts without copies
// are whole as they are. A block's own are there before they are added.
void keep_collected(const Job& job, const ParallelPlan& plan, const RankProgram::Stage& sums,
                    StageMemory& memory) {
  const Framework& framework = *job.framework;
  const double all = sums.dense + (expert_copies(plan).size > 1 ? sums.expert : 0);
  memory.weights += all * framework.gather_bytes;
  memory.buffers += sums.largest * framework.gather_bytes;
}

// Logits of all tokens of a micro-batch on one rank of the last stage.
double logits_bytes(const Job& job, const ParallelPlan& plan, double micro_batch) {
  const double tokens = micro_batch * job.length / plan.context;
  return tokens * job.model->vocabulary / plan.tensor *
         std::max(1, bytes_per_number(job.precisions.activations));
}

// The largest message between this stage and others.
double message_bytes(const Job& job, const RankProgram& program, std::uint32_t stage) {
  const std::uint32_t last = job.plan.pipeline * job.chunks - 1;
  double largest = 0;
  for (std::uint32_t chunk = 0; chunk < job.chunks; ++chunk) {
    const std::uint32_t at = position_of(*job.schedule, job.shape(), stage, chunk);
    if (at > 0) largest = std::max(largest, passed_bytes(job, program, at, stage));
    if (at < last) largest = std::max(largest, passed_bytes(job, program, at + 1, stage));
  }
  const ParallelPlan plan = stage_plan(job, stage);
  return largest / batch_parts(job, stage) / (plan.sequence ? plan.tensor : 1);
}

// What comes from other stages and goes to them: room for one message each way. Or a buffer for
// every micro-batch of a step: what a stage gets (what it still needs is counted as activations),
// its gradient, the gradient of what it gives, what it gave until that comes, and on the last stage
// the logits.
double passing_bytes(const Job& job, const RankProgram& program, std::uint32_t stage) {
  const double parts = batch_parts(job, stage);
  const ParallelPlan plan = stage_plan(job, stage);
  const double whole = message_bytes(job, program, stage);
  if (!job.framework->pipeline_keeps_messages || !job.trains() || job.has_samples()) {
    return 2 * whole;
  }
  const double passes = job.micro_batches();
  const std::uint32_t last = job.plan.pipeline * job.chunks - 1;
  double messages = 0;
  double logits = 0;
  for (std::uint32_t chunk = 0; chunk < job.chunks; ++chunk) {
    const std::uint32_t at = position_of(*job.schedule, job.shape(), stage, chunk);
    if (at > 0) messages += 2 * passes - in_flight(job, stage);
    if (at < last) messages += passes + in_flight(job, stage);
    // Those of one are part of `working`; some schedules keep all that the head has of them.
    if (at < last || job.schedule->keeps_logits) continue;
    logits = (passes - 1) * logits_bytes(job, plan, job.micro_batch / parts);
  }
  return messages * whole + logits;
}

// All sequences of a data rank stay.
double cached_bytes(const Job& job, double positions) {
  const double number = std::max(1, bytes_per_number(job.precisions.activations));
  return positions * job.global_batch / job.plan.data * cached_numbers(job) * number;
}

// Whole ones have the type that ranks add them up in.
double gradient_bytes(const Job& job, const ParallelPlan& plan, const RankProgram::Stage& sums,
                      std::uint32_t stage) {
  const Framework& framework = *job.framework;
  const auto held = [&](double bytes) {
    return held_bytes(plan, sums, bytes, Sharding::gradients);
  };
  if (!keeps_gradients(job, plan)) return held(framework.gradient_bytes);
  const double whole = whole_gradients(job, stage);
  return whole * (sums.dense + sums.expert) * framework.reduce_bytes +
         (1 - whole) * held(framework.reduce_bytes);
}

// The allocator lends no memory from stream to stream. Streams of collectives keep the buffers that
// parameters arrive in, where these stay collected, and the divided sums of gradients, where those
// are held whole.
double stream_buffers(const Job& job, const ParallelPlan& plan, const RankProgram::Stage& sums,
                      std::uint32_t stage) {
  const Framework& framework = *job.framework;
  if (!framework.reserves_segments || !keeps_gradients(job, plan)) return 0;
  const double arriving = keeps_collected(job, plan) ? 1 + framework.prefetch : 0;
  return arriving * sums.largest * framework.gather_bytes +
         whole_gradients(job, stage) *
             held_bytes(plan, sums, framework.reduce_bytes, Sharding::gradients);
}

// Weights as they are held; room for what is collected and for what goes from stage to stage.
StageMemory held_by(const Job& job, const RankProgram& program, std::uint32_t stage) {
  const Framework& framework = *job.framework;
  const RankProgram::Stage& sums = program.step.stages[stage];
  const ParallelPlan plan = stage_plan(job, stage);
  StageMemory memory;
  memory.weights = held_bytes(plan, sums, framework.weight_bytes, Sharding::parameters);
  memory.working = sums.working;
  const bool is_kept = keeps_collected(job, plan);
  if (plan.sharding == Sharding::parameters && !is_kept) {
    // The block that runs and the next one collected, gradients of one block before they leave, and
    // where they are copied for that those of the block that runs (PyTorch FSDP 2). Where tensors
    // travel one by one: a tensor, the buffer that its parts arrive in, and the same of its
    // gradient (DeepSpeed).
    const double reduced = job.trains() ? framework.reduce_bytes : 0;
    const double made = job.trains() && framework.pack_bytes > 0 ? framework.gather_bytes : 0;
    memory.buffers =
        sums.largest * ((1 + framework.prefetch) * framework.gather_bytes + reduced + made);
  }
  memory.buffers += sums.segments;
  if (job.plan.pipeline > 1) memory.messages = passing_bytes(job, program, stage);
  memory.buffers += memory.messages;
  if (job.trains()) {
    memory.gradients = gradient_bytes(job, plan, sums, stage);
    memory.optimizer = held_bytes(plan, sums, framework.state_bytes, Sharding::optimizer);
    memory.activations = sums.kept * in_flight(job, stage);
    if (is_kept) keep_collected(job, plan, sums, memory);
    memory.buffers += stream_buffers(job, plan, sums, stage);
    // One micro-batch of them is part of `working`.
    if (job.schedule->keeps_logits) {
      memory.activations += sums.head_kept * (job.micro_batches() - 1);
    }
  } else if (!job.has_samples()) {
    memory.activations = cached_bytes(job, sums.positions);
  }
  return memory;
}

}  // namespace

std::vector<StageMemory> stage_memory(const Job& job, const RankProgram& program) {
  std::vector<StageMemory> stages;
  stages.reserve(job.plan.pipeline);
  for (std::uint32_t stage = 0; stage < job.plan.pipeline; ++stage) {
    stages.push_back(held_by(job, program, stage));
  }
  return stages;
}

}  // namespace foretrace
