#include "apps/driver/scenario/scenario_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/driver/scenario/scenario.h"

namespace foretrace::driver {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(Sharding sharding) {
  switch (sharding) {
    case Sharding::none: return "none";
    case Sharding::optimizer: return "optimizer";
    case Sharding::gradients: return "gradients";
    case Sharding::parameters: return "parameters";
  }
  return "none";
}

std::string_view name_of(ContextKind kind) {
  switch (kind) {
    case ContextKind::ring: return "ring";
    case ContextKind::all_gather: return "all_gather";
    case ContextKind::all_to_all: return "all_to_all";
  }
  return "ring";
}

std::string_view name_of(const Precisions& precisions) {
  return precisions.layers_in_8_bit ? "fp8" : to_string(precisions.activations);
}

Json stage_of(const StageShare& share) {
  Json stage = {{"layers", share.layers}};
  if (!share.has_own_ranks()) return stage;
  stage["data"] = share.data;
  stage["tensor"] = share.tensor;
  stage["sharding"] = name_of(share.sharding);
  stage["recompute"] = to_string(share.recompute);
  return stage;
}

Json parallelism_of(const Job& job) {
  const ParallelPlan& plan = job.plan;
  Json result = Json::object();
  const auto add = [&result](const char* key, std::uint32_t size, std::uint32_t usual) {
    if (size != usual) result[key] = size;
  };
  add("data", plan.data, 1);
  add("tensor", plan.tensor, 1);
  add("pipeline", plan.pipeline, 1);
  add("context", plan.context, 1);
  add("expert", plan.expert, 1);
  add("expert_tensor", plan.expert_tensor, 1);
  add("shard_size", plan.shard_size, 0);
  if (plan.sequence) result["sequence"] = true;
  if (plan.sharding != Sharding::none) result["sharding"] = name_of(plan.sharding);
  if (plan.context > 1) result["context_kind"] = name_of(plan.context_kind);
  if (!plan.balances_context) result["balances_context"] = false;
  for (const StageShare& share : job.stages) result["stages"].push_back(stage_of(share));
  return result;
}

}  // namespace

std::string scenario_text(const Job& job, const ScenarioNames& names) {
  Json root;
  root["schema"] = scenario_schema;
  root["workload"]["model"] = names.model;
  if (!job.has_samples()) root["workload"]["sequence"] = static_cast<std::int64_t>(job.length);
  root["cluster"] = names.cluster;
  root["framework"] = names.framework;
  root["precision"] = name_of(job.precisions);
  root["parallelism"] = parallelism_of(job);
  root["schedule"] = {{"kind", job.schedule->name}};
  if (job.chunks > 1) root["schedule"]["chunks"] = job.chunks;
  root["batch"] = {{"global", static_cast<std::int64_t>(job.global_batch)},
                   {"micro", static_cast<std::int64_t>(job.micro_batch)}};
  root["recompute"] = to_string(job.recompute);
  return root.dump(2) + "\n";
}

}  // namespace foretrace::driver
