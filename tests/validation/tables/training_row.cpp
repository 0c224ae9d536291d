#include "tests/validation/tables/training_row.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "sim/core/params.h"

namespace foretrace::driver {
namespace {

// Beside context, libraries and fragments.
constexpr double memory_share = 0.94;

std::uint32_t whole(double count) { return static_cast<std::uint32_t>(count); }

}  // namespace

std::string cluster_of(std::string_view accelerator) {
  struct Known {
    std::string_view part;
    std::string_view cluster;
  };
  // Longer names first: GB200 holds B200.
  constexpr std::array known = {Known{"GB300", "gb300_nvl72"}, Known{"GB200", "gb200_nvl72"},
                                Known{"B300", "dgx_b300"},     Known{"B200", "dgx_b200"},
                                Known{"H200", "dgx_h200"},     Known{"H100", "dgx_h100"},
                                Known{"A100", "dgx_a100"},     Known{"MI300X", "mi300x_x8"}};
  for (const Known& one : known) {
    if (accelerator.find(one.part) != std::string_view::npos) return std::string(one.cluster);
  }
  return {};
}

std::string precision_of(std::string_view name) {
  if (name.find("FP8") != std::string_view::npos || name.find("fp8") != std::string_view::npos) {
    return "fp8";
  }
  if (name.find("BF16") != std::string_view::npos || name.find("bf16") != std::string_view::npos) {
    return "bf16";
  }
  if (name.find("FP16") != std::string_view::npos) return "fp16";
  return {};
}

Result<Scenario> training_scenario(const TrainingRow& row, TableInputs& inputs) {
  if (row.cluster.empty()) return Error{ErrorCode::not_found, "no cluster of this accelerator"};
  if (row.precision.empty()) return Error{ErrorCode::not_found, "no rates of this precision"};
  auto scenario = scenario_on(inputs, row.cluster, row.framework);
  if (!scenario.ok()) return scenario;
  auto model = inputs.model(row.model);
  if (!model.ok()) return std::move(model).error();
  scenario->model = *model;
  if (row.layers > 0 || row.vocabulary > 0) {
    ModelSpec own = **model;
    if (row.layers > 0) own.transformer.layers = whole(row.layers);
    if (row.vocabulary > 0) own.transformer.vocabulary = row.vocabulary;
    scenario->model = std::make_shared<const ModelSpec>(std::move(own));
  }
  const auto precisions = precisions_of(row.precision);
  if (!precisions.ok()) return precisions.error();
  Job& job = scenario->job;
  job.precisions = *precisions;
  job.length = row.length > 0 ? row.length : scenario->model->transformer.positions;
  job.plan.tensor = whole(row.tensor);
  job.plan.pipeline = whole(row.pipeline);
  job.plan.context = whole(row.context);
  job.plan.expert = whole(row.expert);
  const auto copies = copies_of(row.gpus, row.tensor * row.pipeline * row.context);
  if (!copies.ok()) return copies.error();
  job.plan.data = whole(*copies);
  job.plan.sequence = row.sequence && job.plan.tensor > 1;
  job.plan.sharding = row.sharding;
  job.plan.shard_size = whole(row.shards);
  job.micro_batch = row.micro_batch;
  job.global_batch = row.global_batch;
  job.chunks = std::max(1U, whole(row.chunks));
  const bool open_chunks = row.chunks < 1 && job.plan.pipeline > 1;
  if (job.chunks > 1) {
    const auto schedule = find_schedule("interleaved");
    if (!schedule.ok()) return schedule.error();
    job.schedule = *schedule;
  }
  OpenChoices open;
  open.recomputes = row.recomputes;
  if (open_chunks) open.chunks = {1, 2, 3, 4, 5, 6, 8, 10, 12, 20};
  open.memory_bytes =
      row.ignores_memory
          ? 0
          : memory_share * static_cast<double>(scenario->cluster->accelerator.memory_bytes);
  auto best = fastest_choice(*scenario, open);
  if (best.ok() || best.error().code != ErrorCode::no_match) return best;
  // It ran, so it fitted: the least memory that we know of.
  open.memory_bytes = 0;
  open.recomputes = {row.recomputes.back()};
  return fastest_choice(*scenario, open);
}

}  // namespace foretrace::driver
