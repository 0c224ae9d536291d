#include "models/jobs/program/job_figures.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/jobs/times/attention_rates.h"

namespace foretrace {
namespace {

Workload whole_model(const Job& job) {
  return build_transformer(*job.model, batch_of(job, 1), kernel_set(job));
}

/// Of `count` operators forward.
double flops_of(const Operator& op, double count) {
  const AttentionPart& part = op.attention;
  if (op.type == OperatorType::product) return count * op.shape.flops();
  if (op.type == OperatorType::batch_product) {
    return count * op.shape.flops() * (part.keys > 0 ? part.keys_seen() / part.keys : 1);
  }
  if (op.type != OperatorType::attention) return 0;
  return count * 2 * op.shape.batch * part.heads * part.queries * part.keys_seen() *
         (part.head_size + part.value_size);
}

/// What they move, if they only move numbers.
double moved_bytes(const Operator& op, double count) {
  if (op.type == OperatorType::product || op.type == OperatorType::batch_product) return 0;
  return count * op.forward_bytes * op.shape.batch * op.shape.m * op.shape.n;
}

// The largest models have 1e13 parameters; a step of months is a mistake in the file.
constexpr double most_parameters = 1e16;
constexpr double most_seconds = 1e7;

}  // namespace

ModelAmounts amounts_of(const Job& job) {
  const Workload workload = whole_model(job);
  ModelAmounts amounts{.parameters = weights_of(workload)};
  for (const BlockRun& run : workload.order) {
    for (const Operator& op : workload.blocks[run.block].operators) {
      const double flops = flops_of(op, run.count);
      amounts.flops += flops;
      amounts.attention_flops += op.type == OperatorType::attention ? flops : 0;
      amounts.moved_bytes += moved_bytes(op, run.count);
    }
  }
  return amounts;
}

Status check_amounts(const Job& job, const ModelAmounts& amounts) {
  if (amounts.parameters > most_parameters) {
    return Error{ErrorCode::bad_config,
                 fmt::format("/workload/model: got {:.3g} parameters, expected at most {:g}",
                             amounts.parameters, most_parameters)};
  }
  const double seconds = (amounts.flops / peak_flops(job) +
                          amounts.moved_bytes / job.cluster->accelerator.memory_bandwidth) *
                         job.global_batch / job.ranks();
  if (seconds > most_seconds) {
    return Error{ErrorCode::bad_config,
                 fmt::format("/batch/global: got a step of {:.3g} s at the peak rates of {} "
                             "accelerators, expected at most {:g} s",
                             seconds, job.ranks(), most_seconds)};
  }
  return ok_status();
}

double peak_flops(const Job& job) {
  const Precision precision =
      job.precisions.layers_in_8_bit ? Precision::fp8 : job.precisions.activations;
  return job.cluster->accelerator.flops(precision);
}

Job job_of_amounts(Job job) {
  job.cluster = nullptr;
  job.schedule = nullptr;
  job.plan = {};
  job.stages.clear();
  job.chunks = 1;
  job.global_batch = job.micro_batch = 1;
  job.recompute = Recompute::none;
  job.sparse_gradients.reset();
  return job;
}

double model_flops(const Job& job, const ModelAmounts& amounts) {
  return amounts.flops * job.global_batch * (job.trains() ? 3 : 1);
}

double model_flops(const Job& job) { return model_flops(job, amounts_of(job)); }

double least_step_seconds(const Job& job, const ModelAmounts& amounts) {
  const double peak = peak_flops(job);
  if (!(peak > 0)) return 0;
  // Of fp32 on the units of TF32, which are faster than those of its products.
  const double attention =
      std::max(peak, attention_peak(job.cluster->accelerator, job.precisions.activations));
  const double share = amounts.flops > 0 ? amounts.attention_flops / amounts.flops : 0;
  return model_flops(job, amounts) * ((1 - share) / peak + share / attention) / job.ranks();
}

bool keeps_peaks(const Job& job) { return job.cluster->accelerator.exec_model == nullptr; }

double least_step_ns(const Job& job, const ModelAmounts& amounts) {
  if (!keeps_peaks(job)) return 0;
  const double busy = least_step_seconds(job, amounts);
  // A step of few tokens need not read every expert, nor all rows of a table.
  if (job.trains() || job.model->experts.count > 0) return busy * 1e9;
  const double bytes = job.precisions.layers_in_8_bit ? 1 : job.framework->weight_bytes;
  const double read = amounts.parameters - job.model->vocabulary * job.model->hidden;
  const double held =
      std::max(0.0, read) * bytes / (double{1} * job.plan.tensor * job.plan.pipeline);
  return std::max(busy, held / job.cluster->accelerator.memory_bandwidth) * 1e9;
}

double model_parameters(const Job& job) { return weights_of(whole_model(job)); }

JobFigures job_figures(const Job& job, std::int64_t step_ns, const ModelAmounts& amounts) {
  const double seconds = static_cast<double>(step_ns) * 1e-9;
  const double busy = least_step_seconds(job, amounts);
  JobFigures figures;
  if (busy > 0 && busy <= seconds) figures.flops_utilization = busy / seconds;
  figures.tokens_per_s = job.tokens_per_step() / seconds;
  figures.cost_per_million_tokens =
      job.cluster->price_per_hour * job.ranks() / 3600 / figures.tokens_per_s * 1e6;
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

}  // namespace foretrace
