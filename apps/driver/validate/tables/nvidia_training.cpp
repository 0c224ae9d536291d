// NVIDIA's published training speed of NeMo, Megatron-Bridge and MaxText on H100 and later.
#include <array>

#include <fmt/format.h>

#include "apps/driver/validate/tables/training_row.h"

namespace foretrace::driver::table_readers::nvidia_training_parts {
namespace {

// NeMo recipes: sequence parallelism in tensor groups, the distributed optimizer.
TrainingRow nemo_row(const TruthRow& row) {
  TrainingRow run;
  run.model = row.text("model");
  run.framework = "megatron_core";
  run.gpus = number_in(row, "gpus", 1);
  run.tensor = number_in(row, "tp", 1);
  run.pipeline = number_in(row, "pp", 1);
  run.context = number_in(row, "cp", 1);
  run.expert = number_in(row, "ep", 1);
  run.sequence = true;
  run.sharding = Sharding::optimizer;
  run.recomputes = {Recompute::none, Recompute::full};
  return run;
}

Result<TablePoint> step_point(const TruthRow& row, std::size_t i, TableInputs& inputs) {
  TrainingRow run = nemo_row(row);
  run.cluster = cluster_of(row.text("gpu"));
  run.precision = precision_of(row.text("precision"));
  run.chunks = row.number_or("vpp", 0);
  run.layers = number_in(row, "layers", 0);
  run.length = number_in(row, "seq", 0);
  run.micro_batch = number_in(row, "micro_batch", 1);
  run.global_batch = number_in(row, "global_batch", 0);
  const auto measured = row.number("step_s");
  if (!measured.has_value()) return Error{ErrorCode::bad_format, "no number in column step_s"};
  if (row.text("task").find("lora") != std::string::npos) {
    return Error{ErrorCode::unsupported, "low-rank adapters are trained, not the model"};
  }
  if (row.text("framework").find("MaxText") != std::string::npos) {
    run.framework = "maxtext_gpu";
    run.sharding = Sharding::parameters;
    run.shards = number_in(row, "fsdp", 0);
    run.sequence = false;
  }
  if (row.text("framework").find("axlearn") != std::string::npos) {
    return Error{ErrorCode::unsupported, "no description of this framework"};
  }
  auto scenario = training_scenario(run, inputs);
  if (!scenario.ok()) return std::move(scenario).error();
  const auto prediction = predict_row(*scenario);
  if (!prediction.ok()) return prediction.error();
  TablePoint point = time_point(i, "step_s", *prediction, *measured);
  point.group = fmt::format("{}, {}", row.text("model"), row.text("precision"));
  return point;
}

Result<TablePoint> bridge_point(const TruthRow& row, std::size_t i, TableInputs& inputs) {
  TrainingRow run = nemo_row(row);
  run.cluster = cluster_of(row.text("system"));
  run.precision = precision_of(row.text("precision"));
  run.chunks = row.number_or("vp", 0);
  run.length = number_in(row, "seq_len", 0);
  run.micro_batch = number_in(row, "mbs", 1);
  run.global_batch = number_in(row, "gbs", 0);
  const auto measured = row.number("tokens_per_s_per_gpu");
  if (!measured.has_value()) {
    return Error{ErrorCode::bad_format, "no number in column tokens_per_s_per_gpu"};
  }
  if (row.text("task").find("LoRA") != std::string::npos) {
    return Error{ErrorCode::unsupported, "low-rank adapters are trained, not the model"};
  }
  if (row.number_or("fsdp", 0) > 0) run.sharding = Sharding::parameters;
  auto scenario = training_scenario(run, inputs);
  if (!scenario.ok()) return std::move(scenario).error();
  const auto prediction = predict_row(*scenario);
  if (!prediction.ok()) return prediction.error();
  return rate_point(i, "tokens_per_s_per_gpu", *prediction,
                    scenario->job.tokens_per_step() / run.gpus, *measured);
}

void nemo_points(const TruthRow& row, std::size_t i, TableInputs& inputs, TableResult& result) {
  TrainingRow run = nemo_row(row);
  run.framework = "nemo_2024";
  run.cluster = "dgx_h100";
  run.precision = "fp8";
  run.chunks = row.number_or("vp", 0);
  run.length = number_in(row, "seq", 0);
  run.micro_batch = number_in(row, "mbs", 1);
  run.global_batch = number_in(row, "gbs", 0);
  const auto scenario = training_scenario(run, inputs);
  if (!scenario.ok()) {
    result.skipped.push_back({i, scenario.error().message});
    return;
  }
  const auto prediction = predict_row(*scenario);
  if (!prediction.ok()) {
    result.skipped.push_back({i, prediction.error().message});
    return;
  }
  for (const std::string_view column :
       {"tokens_per_s_gpu_a", "tokens_per_s_gpu_b", "tokens_per_s_gpu_c"}) {
    const auto measured = row.number(column);
    if (!measured.has_value()) continue;
    result.points.push_back(rate_point(i, std::string(column), *prediction,
                                       scenario->job.tokens_per_step() / run.gpus, *measured));
  }
}

Result<TablePoint> long_point(const TruthRow& row, std::size_t i, TableInputs& inputs) {
  TrainingRow run = nemo_row(row);
  run.model = "LLAMA2-7B";
  run.framework = "nemo_2024";
  run.cluster = "dgx_h100";
  run.precision = "fp8";
  run.length = 1024 * number_in(row, "seq_k", 4);
  run.micro_batch = 1;
  run.global_batch = number_in(row, "batch", 1);
  const auto measured = row.number("tokens_per_s_gpu");
  if (!measured.has_value()) {
    return Error{ErrorCode::bad_format, "no number in column tokens_per_s_gpu"};
  }
  auto scenario = training_scenario(run, inputs);
  if (!scenario.ok()) return std::move(scenario).error();
  const auto prediction = predict_row(*scenario);
  if (!prediction.ok()) return prediction.error();
  return rate_point(i, "tokens_per_s_gpu", *prediction, scenario->job.tokens_per_step() / run.gpus,
                    *measured);
}

Result<TablePoint> megascale_point(const TruthRow& row, std::size_t i, TableInputs& inputs) {
  if (row.text("system") != "Megatron-LM") {
    return Error{ErrorCode::unsupported,
                 "MegaScale's own parallel block and sliding window change the model"};
  }
  TrainingRow run;
  run.model = row.text("model");
  const bool large = run.model == "530B";
  run.cluster = "megascale_a100";
  run.framework = "megatron_lm_2023";
  run.gpus = number_in(row, "gpus", 1);
  run.tensor = 8;
  run.pipeline = large ? 35 : 8;
  run.chunks = large ? 3 : 6;
  run.vocabulary = 64000;
  run.length = 2048;
  run.sequence = true;
  run.global_batch = number_in(row, "batch", 1);
  run.recomputes = {Recompute::none, Recompute::selective, Recompute::full};
  const auto measured = row.number("iteration_s");
  if (!measured.has_value()) return Error{ErrorCode::bad_format, "no number in column iteration_s"};
  auto scenario = training_scenario(run, inputs);
  if (!scenario.ok()) return std::move(scenario).error();
  const auto prediction = predict_row(*scenario);
  if (!prediction.ok()) return prediction.error();
  return time_point(i, "iteration_s", *prediction, *measured);
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  TableResult result;
  result.name = table.id;
  const bool nemo = table.id == "nemo_h100_training";
  const auto point_of = table.id == "dgxc_training_scaling"      ? step_point
                        : table.id == "megatron_bridge_nvidia"   ? bridge_point
                        : table.id == "training_scale_megascale" ? megascale_point
                                                                 : long_point;
  const bool times = table.id == "dgxc_training_scaling" || table.id == "training_scale_megascale";
  result.unit = times ? "s" : "tokens/s per accelerator";
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (nemo) {
      nemo_points(table.row(i), i, inputs, result);
      continue;
    }
    result.add(i, point_of(table.row(i), i, inputs));
  }
  result.notes.emplace_back(
      "recomputation and interleaving that a row does not state are the fastest that fit");
  return std::vector<TableResult>{std::move(result)};
}

constexpr std::array<std::string_view, 5> names = {"dgxc_training_scaling",
                                                   "megatron_bridge_nvidia", "nemo_h100_training",
                                                   "cp_long_sequence", "training_scale_megascale"};

constexpr TableReaderInfo info = {
    "nvidia_training", "published training speed of NeMo, Megatron and MaxText on large clusters",
    names, read};

}  // namespace
}  // namespace foretrace::driver::table_readers::nvidia_training_parts

namespace foretrace::driver::table_readers {
extern const TableReaderInfo nvidia_training;
constinit const TableReaderInfo nvidia_training = nvidia_training_parts::info;
}  // namespace foretrace::driver::table_readers
