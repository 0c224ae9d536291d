#include "models/whatifs/parallelism/spread_job.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "models/jobs/scenario/job_fields.h"
#include "models/whatifs/parallelism/machine.h"
#include "models/whatifs/parallelism/parallel_params.h"

namespace foretrace::parallel_parts {
namespace {

/// What a modelled job knows by itself.
Status check_only_modelled(const ParamValues& params) {
  for (const ParamInfo& row : {layers_param, ranks_param, bucket_param, bucket_view_param,
                               parameters_param, gradient_bytes_param}) {
    if (!params.given(row)) continue;
    return Error{
        ErrorCode::bad_config,
        fmt::format("{}: adds what a trace lacks; a modelled job has its own, expected none",
                    row.name)};
  }
  return ok_status();
}

/// What a plan says only of groups that it has.
Status check_groups(const ParamValues& params, const Job& job) {
  const auto refuse = [](const ParamInfo& row, std::string_view with) {
    return Error{ErrorCode::bad_config, fmt::format("{}: only with {}", row.name, with)};
  };
  const auto divides = [](const StageShare& share) { return share.tensor > 1; };
  if (params.boolean(sequence_param) && job.plan.tensor < 2 &&
      std::none_of(job.stages.begin(), job.stages.end(), divides)) {
    return refuse(sequence_param, "tensor, whose ranks divide tokens");
  }
  if (params.integer(shard_size_param) > 0 && job.plan.sharding == Sharding::none) {
    return refuse(shard_size_param, "zero, which says what is shared");
  }
  return ok_status();
}

Status change_schedule(const ParamValues& params, Job& job) {
  if (!params.given(schedule_param) && !params.given(chunks_param)) return ok_status();
  if (params.given(schedule_param)) {
    FORETRACE_TRY(job.schedule, find_schedule(params.text(schedule_param)));
  }
  const auto chunks = static_cast<std::uint32_t>(params.integer(chunks_param));
  job.chunks = chunks > 0 ? chunks : job.schedule->least_chunks;
  job.stages.clear();
  return ok_status();
}

void change_plan(const ParamValues& params, Job& job) {
  const double per_rank = job.global_batch / job.plan.data;
  reopen(job.plan, *job.model);
  const auto set = [&](const ParamInfo& row, std::uint32_t& size) {
    if (params.given(row)) size = static_cast<std::uint32_t>(params.integer(row));
  };
  set(data_param, job.plan.data);
  set(tensor_param, job.plan.tensor);
  set(pipeline_param, job.plan.pipeline);
  if (params.given(sequence_param)) job.plan.sequence = params.boolean(sequence_param);
  if (params.given(zero_param)) {
    job.plan.sharding = static_cast<Sharding>(params.integer(zero_param));
  }
  set(shard_size_param, job.plan.shard_size);
  if (params.given(pipeline_param)) job.stages.clear();
  const auto micro_batches = static_cast<double>(params.integer(micro_batches_param));
  const double own = micro_batches > 0 ? micro_batches * job.micro_batch : per_rank;
  job.global_batch = own * job.plan.data;
}

}  // namespace

Result<std::optional<std::string>> spread_job(const WhatIfInput& input, const ParamValues& params,
                                              Scenario& scenario) {
  if (params.boolean(recorded_param)) return std::optional<std::string>{};
  FORETRACE_TRY(check_only_modelled(params));
  change_plan(params, scenario.job);
  FORETRACE_TRY(check_groups(params, scenario.job));
  FORETRACE_TRY(change_schedule(params, scenario.job));
  if (params.given(cluster_param)) {
    FORETRACE_TRY(Cluster cluster, editing::machine_of(input, params.text(cluster_param)));
    scenario.cluster = std::make_shared<const Cluster>(std::move(cluster));
  }
  FORETRACE_TRY(scenario, complete_scenario(std::move(scenario)));
  const ParallelPlan& plan = scenario.job.plan;
  return std::optional(
      fmt::format("the job on {} x {}: data {}, tensor {}, pipeline {}, {} samples per step",
                  scenario.job.ranks(), scenario.cluster->accelerator.product, plan.data,
                  plan.tensor, plan.pipeline, scenario.job.global_batch));
}

}  // namespace foretrace::parallel_parts
