// Whether a job can run at all: its plan, schedule, batch and machine.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "models/jobs/program/job.h"
#include "models/jobs/program/stages.h"
#include "models/jobs/workloads/layered.h"

namespace foretrace {
namespace {

Error refuse(std::string_view pointer, const std::string& what) {
  return Error{ErrorCode::bad_config, fmt::format("{}: {}", pointer, what)};
}

/// True if it has collectives of gradients of its own.
bool states_gradients(const LayeredSpec& spec) {
  return std::any_of(spec.groups.begin(), spec.groups.end(), [](const LayerGroup& group) {
    return std::any_of(group.operators.begin(), group.operators.end(), [](const LayerOperator& op) {
      return op.exchanges.gradients.kind != CollectiveKind::none;
    });
  });
}

// Layers of a recording are divided already: the plan has to be the one that they were divided by.
Status check_recorded(const Job& job) {
  const LayeredSpec& spec = *job.model->layered;
  struct Size {
    std::string_view name;
    std::uint32_t stated;
    std::uint32_t planned;
  };
  for (const Size& size :
       {Size{"tensor", spec.recorded->tensor, job.plan.tensor},
        Size{"expert", spec.recorded->expert, job.plan.expert},
        Size{"data", spec.recorded->data, job.plan.data}, Size{"context", 1, job.plan.context}}) {
    if (size.stated == 0 || size.stated == size.planned) continue;
    return refuse(fmt::format("/parallelism/{}", size.name),
                  fmt::format("got {}, expected {}, which the recorded layers are divided by",
                              size.planned, size.stated));
  }
  // Whether there are as many stages as the pipeline has is checked behind this.
  const std::size_t stages = job.has_own_ranks() ? job.stages.size() : 1;
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    const std::uint32_t parts = batch_parts(job, stage);
    if (job.micro_batch == parts) continue;
    return refuse(
        "/batch/micro",
        fmt::format("got {}, expected {}: recorded times are those of the micro-batch that "
                    "was recorded",
                    job.micro_batch, parts));
  }
  const std::uint32_t ranks = job.plan.copies() * job.plan.tensor;
  if (ranks % std::max(1U, job.plan.expert * job.plan.expert_tensor) != 0) {
    return refuse("/parallelism/expert", fmt::format("got {}, expected a divisor of the {} data "
                                                     "ranks",
                                                     job.plan.expert, job.plan.copies()));
  }
  if (job.plan.pipeline > 1 && !(job.model->hidden > 0)) {
    return refuse("/parallelism/pipeline",
                  fmt::format("got {}, expected 1: the recording does not say what goes from stage "
                              "to stage",
                              job.plan.pipeline));
  }
  if (job.plan.sharding != Sharding::none && states_gradients(spec)) {
    return refuse("/parallelism/sharding",
                  "stands beside a recording that has its own collectives of gradients, expected "
                  "none");
  }
  return ok_status();
}

// Every one is simulated; published jobs have hundreds.
constexpr double most_passes = 16384;

Status check_batch(const Job& job) {
  const double per_rank = job.global_batch / job.plan.data;
  if (!(job.micro_batch > 0) || !(job.global_batch > 0)) {
    return refuse("/batch", "got a batch that is not positive");
  }
  const double passes = per_rank / job.micro_batch;
  if (passes > most_passes) {
    return refuse("/batch/global",
                  fmt::format("got {:.0f} micro-batches per data rank, expected at most {:.0f}",
                              passes, most_passes));
  }
  if (std::abs(passes - std::round(passes)) > 1e-9 || passes < 1) {
    return refuse("/batch/global",
                  fmt::format("got {}, expected a multiple of {} data ranks x micro-batch {}",
                              job.global_batch, job.plan.data, job.micro_batch));
  }
  return ok_status();
}

Status check_length(const Job& job) {
  if (std::fmod(job.length, job.plan.context) == 0 || job.pass == Pass::decode) return ok_status();
  return refuse("/parallelism/context",
                fmt::format("got {}, expected a divisor of the {} tokens of "
                            "a sequence",
                            job.plan.context, job.length));
}

Status check_machine(const Job& job) {
  if (job.cluster->accelerator.name.empty() && !job.model->is_recorded()) {
    return refuse("/cluster", fmt::format("got {}, which names no accelerator, expected a cluster "
                                          "file that imports it and names one",
                                          job.cluster->name));
  }
  const std::uint64_t ranks = job.ranks();
  if (ranks > job.cluster->accelerators()) {
    return refuse("/parallelism",
                  fmt::format("got {} ranks, expected at most the {} accelerators of {}", ranks,
                              job.cluster->accelerators(), job.cluster->name));
  }
  if (job.cluster->nodes > 1 && ranks > job.cluster->node_accelerators &&
      job.cluster->network.nics == 0) {
    return refuse("/cluster",
                  fmt::format("got {}, whose nodes are not joined, expected a network "
                              "for {} ranks on nodes of {}",
                              job.cluster->name, ranks, job.cluster->node_accelerators));
  }
  return ok_status();
}

}  // namespace

Status check_precision(const Precisions& precisions, const Accelerator& accelerator) {
  for (const Precision precision :
       {precisions.activations,
        precisions.layers_in_8_bit ? Precision::fp8 : precisions.activations}) {
    if (accelerator.flops(precision) > 0) continue;
    std::string known;
    for (std::size_t p = 1; p < precision_count; ++p) {
      const auto other = static_cast<Precision>(p);
      if (accelerator.flops(other) <= 0) continue;
      known += fmt::format("{}{}", known.empty() ? "" : ", ", to_string(other));
    }
    return refuse("/precision", fmt::format("got {}, for which {} has no units, expected one of {}",
                                            to_string(precision), accelerator.name, known));
  }
  return ok_status();
}

Status check_job(const Job& job) {
  if (job.has_samples() && job.length != 1) {
    return refuse("/workload/sequence",
                  fmt::format("a sample has no tokens, got {}, expected 1", job.length));
  }
  if (job.model->is_recorded()) {
    FORETRACE_TRY(check_recorded(job));
  } else if (Status status = check_plan(job.plan, *job.model);
             !status.ok() && !job.has_own_ranks()) {
    return Error{status.error().code, "/parallelism/" + status.error().message};
  }
  if (job.plan.shard_size > 0 && job.plan.copies() % job.plan.shard_size != 0) {
    return refuse(
        "/parallelism/shard_size",
        fmt::format("got {}, expected a divisor of the {} ranks that hold the same layers",
                    job.plan.shard_size, job.plan.copies()));
  }
  FORETRACE_TRY(check_machine(job));
  // A recording has its times whatever it was computed in.
  if (!job.model->is_recorded()) {
    FORETRACE_TRY(check_precision(job.precisions, job.cluster->accelerator));
  }
  FORETRACE_TRY(check_length(job));
  FORETRACE_TRY(check_batch(job));
  const std::uint64_t positions = std::uint64_t{job.plan.pipeline} * job.chunks;
  if (positions > job.model->layers) {
    return refuse("/parallelism/pipeline",
                  fmt::format("got {} stages x {} chunks, expected at most the {} layers",
                              job.plan.pipeline, job.chunks, job.model->layers));
  }
  FORETRACE_TRY(check_stages(job));
  // Between its two backward passes a micro-batch would need all that was computed again.
  if (job.schedule->splits_backward && job.recompute == Recompute::full) {
    return refuse("/recompute", fmt::format("got full, expected none or selective: {} delays "
                                            "gradients of weights, which need the activations",
                                            job.schedule->name));
  }
  FORETRACE_TRY(check_shape(*job.schedule, job.shape()).with_context("/schedule"));
  return ok_status();
}

}  // namespace foretrace
