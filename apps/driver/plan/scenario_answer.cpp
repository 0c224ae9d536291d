#include "apps/driver/plan/scenario_answer.h"

#include <algorithm>

#include "models/program/pipeline_graph.h"
#include "sim/engine/event/event_driven.h"

namespace foretrace::driver {
namespace {

Workload whole_model(const Job& job) {
  BatchShape batch;
  batch.sequences = 1;
  batch.length = batch.keys = job.length;
  return build_transformer(*job.model, batch, job.framework->kernels);
}

}  // namespace

double peak_flops(const Job& job) {
  const Accelerator& accelerator = job.cluster->accelerator;
  const Precision precision =
      job.precisions.layers_in_8_bit ? Precision::fp8 : job.precisions.activations;
  return accelerator.flops(precision);
}

double model_flops(const Job& job) {
  const Workload workload = whole_model(job);
  double flops = 0;
  for (const BlockRun& run : workload.order) {
    for (const Operator& op : workload.blocks[run.block].operators) {
      if (op.type == OperatorType::product) flops += run.count * op.shape.flops();
      if (op.type == OperatorType::batch_product) flops += run.count * op.shape.flops();
      if (op.type == OperatorType::attention) {
        const AttentionPart& part = op.attention;
        flops += run.count * 2 * op.shape.batch * part.heads * part.queries * part.keys *
                 (part.head_size + part.value_size);
      }
    }
  }
  return flops * job.global_batch * (job.trains() ? 3 : 1);
}

double model_parameters(const Job& job) { return weights_of(whole_model(job)); }

Result<ScenarioAnswer> answer_scenario(const Scenario& scenario) {
  const Job& job = scenario.job;
  ScenarioAnswer answer;
  const JobBlocks blocks = build_blocks(job);
  answer.analytic = estimate(job, blocks);
  answer.range = ranged_step(job, blocks);
  const StepParts parts = step_parts(job, blocks, time_blocks(job, blocks, no_scale()), no_scale());
  const auto topology =
      pipeline_topology(*job.schedule, parts.times.shape, !job.framework->sends_block,
                        job.plan.ranks() / job.plan.pipeline);
  if (!topology.ok()) return topology.error();
  answer.graph = pipeline_graph(*topology, parts);
  simulate_event_driven(answer.graph.topology(), answer.graph.weights(), answer.timeline);
  answer.step_ns = answer.timeline.span_ns;

  const double seconds = static_cast<double>(answer.step_ns) * 1e-9;
  answer.parameters = model_parameters(job);
  answer.model_flops = model_flops(job);
  const double peak = peak_flops(job) * job.plan.ranks();
  answer.flops_utilization = peak > 0 ? answer.model_flops / (seconds * peak) : 0;
  answer.tokens_per_s = job.tokens_per_step() / seconds;
  answer.cost_per_million_tokens =
      job.cluster->price_per_hour * job.plan.ranks() / 3600 / answer.tokens_per_s * 1e6;
  for (std::size_t stage = 0; stage < answer.analytic.memory.size(); ++stage) {
    if (answer.analytic.memory[stage].total() > answer.fullest().total()) {
      answer.fullest_stage = stage;
    }
  }
  answer.fits =
      answer.fullest().total() <= static_cast<double>(job.cluster->accelerator.memory_bytes);
  return answer;
}

}  // namespace foretrace::driver
