#include "apps/driver/plan/job_figures.h"

namespace foretrace::driver {
namespace {

Workload whole_model(const Job& job) {
  BatchShape batch;
  batch.sequences = 1;
  batch.pass = job.pass;
  batch.length = batch.pass == Pass::decode ? 1 : job.length;
  batch.keys = batch.pass == Pass::decode ? job.keys : job.length;
  return build_transformer(*job.model, batch, job.framework->kernels);
}

}  // namespace

double peak_flops(const Job& job) {
  const Precision precision =
      job.precisions.layers_in_8_bit ? Precision::fp8 : job.precisions.activations;
  return job.cluster->accelerator.flops(precision);
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

JobFigures job_figures(const Job& job, std::int64_t step_ns, double flops) {
  const double seconds = static_cast<double>(step_ns) * 1e-9;
  const double peak = peak_flops(job) * job.plan.ranks();
  JobFigures figures;
  figures.flops_utilization = peak > 0 ? flops / (seconds * peak) : 0;
  figures.tokens_per_s = job.tokens_per_step() / seconds;
  figures.cost_per_million_tokens =
      job.cluster->price_per_hour * job.plan.ranks() / 3600 / figures.tokens_per_s * 1e6;
  return figures;
}

std::size_t fullest_stage(std::span<const StageMemory> stages) {
  std::size_t fullest = 0;
  for (std::size_t stage = 1; stage < stages.size(); ++stage) {
    if (stages[stage].total() > stages[fullest].total()) fullest = stage;
  }
  return fullest;
}

double fullest_bytes(std::span<const StageMemory> stages) {
  return stages.empty() ? 0 : stages[fullest_stage(stages)].total();
}

double device_bytes(const Job& job) {
  return static_cast<double>(job.cluster->accelerator.memory_bytes);
}

}  // namespace foretrace::driver
