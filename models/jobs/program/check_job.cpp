// Whether a job can run at all: its plan, schedule, batch and machine.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "models/hardware/networks/cluster.h"
#include "models/jobs/program/job.h"
#include "models/jobs/program/stages.h"
#include "models/jobs/workloads/layered.h"

namespace foretrace {
namespace {

template <typename... Args>
Error refuse(std::string_view pointer, fmt::format_string<Args...> what, Args&&... args) {
  return Error{ErrorCode::bad_config,
               fmt::format("{}: {}", pointer, fmt::format(what, std::forward<Args>(args)...))};
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
                  "got {}, expected {}, which the recorded layers are divided by", size.planned,
                  size.stated);
  }
  // Whether there are as many stages as the pipeline has is checked behind this.
  const std::size_t stages = job.has_own_ranks() ? job.stages.size() : 1;
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    const std::uint32_t parts = batch_parts(job, stage);
    if (job.micro_batch == parts) continue;
    return refuse("/batch/micro",
                  "got {}, expected {}: recorded times are those of the micro-batch that "
                  "was recorded",
                  job.micro_batch, parts);
  }
  const std::uint32_t ranks = job.plan.copies() * job.plan.tensor;
  if (ranks % std::max(1U, job.plan.expert * job.plan.expert_tensor) != 0) {
    return refuse("/parallelism/expert",
                  "got {}, expected a divisor of the {} data "
                  "ranks",
                  job.plan.expert, job.plan.copies());
  }
  if (job.plan.pipeline > 1 && !(job.model->hidden > 0)) {
    return refuse(
        "/parallelism/pipeline",
        "got {}, expected 1: the recording does not contain what stages send to each other",
        job.plan.pipeline);
  }
  if (job.plan.sharding != Sharding::none && states_gradients(spec)) {
    return refuse(
        "/parallelism/sharding",
        "cannot be used with a recording that has its own collectives of gradients, expected none");
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
                  "got {:.0f} micro-batches per data rank, expected at most {:.0f}", passes,
                  most_passes);
  }
  if (std::abs(passes - std::round(passes)) > 1e-9 || passes < 1) {
    return refuse("/batch/global", "got {}, expected a multiple of {} data ranks x micro-batch {}",
                  job.global_batch, job.plan.data, job.micro_batch);
  }
  return ok_status();
}

Status check_length(const Job& job) {
  if (std::fmod(job.length, job.plan.context) == 0 || job.pass == Pass::decode) return ok_status();
  return refuse("/parallelism/context",
                "got {}, expected a divisor of the {} tokens of "
                "a sequence",
                job.plan.context, job.length);
}

Status check_machine(const Job& job) {
  if (job.cluster->accelerator.name.empty() && !job.model->is_recorded()) {
    return refuse("/cluster",
                  "got {}, which names no accelerator, expected a cluster "
                  "file that imports it and names one",
                  job.cluster->name);
  }
  const std::uint64_t ranks = job.ranks();
  if (ranks > job.cluster->accelerators()) {
    return refuse("/parallelism", "got {} ranks, expected at most {}", ranks,
                  accelerators_of(*job.cluster, ranks));
  }
  if (job.cluster->nodes > 1 && ranks > job.cluster->node_accelerators &&
      job.cluster->network.nics == 0) {
    return refuse("/cluster",
                  "got {}, whose nodes have no network, expected one for {} ranks on nodes of {}",
                  job.cluster->name, ranks, job.cluster->node_accelerators);
  }
  return ok_status();
}

// The first chunk of a stage may hold the embedding alone, the last one the head: frameworks count
// them as layers (account_for_embedding_in_pipeline_split of Megatron-Core).
Status check_positions(const Job& job) {
  const std::uint64_t positions = std::uint64_t{job.plan.pipeline} * job.chunks;
  const std::uint32_t layers = job.model->layers;
  if (positions <= layers) return ok_status();
  const bool may_be_empty = job.chunks > 1 && job.model->layered == nullptr;
  if (may_be_empty && positions <= layers + 2ULL) return ok_status();
  return refuse("/parallelism/pipeline",
                "got {} stages x {} chunks, expected at most the {} layers", job.plan.pipeline,
                job.chunks, layers);
}

// Between its two backward passes a micro-batch would need all that was computed again.
Status check_recompute(const Job& job, Recompute recompute, const std::string& where) {
  if (!job.schedule->splits_backward || recompute != Recompute::full) return ok_status();
  return refuse(where + "/recompute",
                "got full, expected none or selective: {} delays gradients of weights, which need "
                "the activations",
                job.schedule->name);
}

std::string at_stage(std::size_t stage) { return fmt::format("/parallelism/stages/{}", stage); }

// Groups inside a node, or of whole nodes: only so do all ranks of a stage have the same links.
Status check_place(const Job& job, std::uint32_t stage) {
  const std::uint32_t node = std::max(job.cluster->node_accelerators, 1U);
  const std::uint32_t first = first_rank(job, stage);
  const std::uint32_t ranks = stage_ranks(job, stage);
  const bool fits = ranks <= node ? first % node + ranks <= node : first % node == 0;
  if (fits) return ok_status();
  return refuse(at_stage(stage),
                "got ranks {} to {}, expected them in one node of {}, or at the beginning of one",
                first, first + ranks - 1, node);
}

Status check_own_ranks(const Job& job, std::uint32_t stage) {
  const StageShare& share = job.stages[stage];
  if (!share.has_own_ranks()) {
    return refuse(at_stage(stage),
                  "got no ranks, expected data and tensor as the others have them");
  }
  if (Status status = check_plan(stage_plan(job, stage), *job.model); !status.ok()) {
    return Error{ErrorCode::bad_config, at_stage(stage) + "/" + status.error().message};
  }
  const double per_rank = job.micro_batch / share.data;
  if (per_rank < 1 || per_rank != std::floor(per_rank)) {
    return refuse(at_stage(stage) + "/data", "got {}, expected a divisor of the micro-batch of {}",
                  share.data, job.micro_batch);
  }
  FORETRACE_TRY(check_recompute(job, share.recompute, at_stage(stage)));
  return check_place(job, stage);
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
    return refuse("/precision", "got {}, for which {} has no units, expected one of {}",
                  to_string(precision), accelerator.name, known);
  }
  return ok_status();
}

Status check_job(const Job& job) {
  if (job.has_samples() && job.length != 1) {
    return refuse("/workload/sequence", "a sample has no tokens, got {}, expected 1", job.length);
  }
  if (job.model->is_recorded()) {
    FORETRACE_TRY(check_recorded(job));
  } else if (Status status = check_plan(job.plan, *job.model);
             !status.ok() && !job.has_own_ranks()) {
    return Error{status.error().code, "/parallelism/" + status.error().message};
  }
  if (job.plan.shard_size > 0 && job.plan.copies() % job.plan.shard_size != 0) {
    return refuse("/parallelism/shard_size",
                  "got {}, expected a divisor of the {} ranks that share the same layers",
                  job.plan.shard_size, job.plan.copies());
  }
  FORETRACE_TRY(check_machine(job));
  // A recording has its times whatever it was computed in.
  if (!job.model->is_recorded()) {
    FORETRACE_TRY(check_precision(job.precisions, job.cluster->accelerator));
  }
  FORETRACE_TRY(check_length(job));
  FORETRACE_TRY(check_batch(job));
  FORETRACE_TRY(check_positions(job));
  FORETRACE_TRY(check_stages(job));
  FORETRACE_TRY(check_recompute(job, job.recompute, ""));
  FORETRACE_TRY(check_shape(*job.schedule, job.shape()).with_context("/schedule"));
  return ok_status();
}

Status check_stages(const Job& job) {
  constexpr std::string_view here = "/parallelism/stages";
  if (job.stages.empty()) return ok_status();
  const std::uint64_t positions = std::uint64_t{job.plan.pipeline} * job.chunks;
  if (job.stages.size() != positions) {
    return refuse(here, "got {}, expected one for each of {} stages x {} chunks", job.stages.size(),
                  job.plan.pipeline, job.chunks);
  }
  std::uint64_t layers = 0;
  for (std::size_t i = 0; i < job.stages.size(); ++i) {
    if (job.stages[i].layers == 0) {
      return refuse(at_stage(i) + "/layers", "got 0, expected at least 1");
    }
    layers += job.stages[i].layers;
  }
  if (layers != job.model->layers) {
    return refuse(here, "got {} layers, expected the {} of the model", layers, job.model->layers);
  }
  if (!job.has_own_ranks()) return ok_status();
  const ParallelPlan& plan = job.plan;
  if (plan.ranks() != plan.pipeline || plan.expert > 1 || plan.sharding != Sharding::none ||
      plan.shard_size > 0 || job.chunks > 1) {
    return refuse(here,
                  "got ranks of their own, expected data, tensor, context, expert, sharding and "
                  "chunks of the whole pipeline left out");
  }
  if (!job.trains()) {
    return refuse(here, "got ranks of their own, expected layers alone for inference");
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
