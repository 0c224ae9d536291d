// NVIDIA's published training speed of NeMo, Megatron-Bridge and MaxText on H100 and later.
#include <array>

#include <fmt/format.h>

#include "tests/validation/tables/training_row.h"

namespace foretrace::driver::table_readers::nvidia_training_parts {
namespace {

// NeMo recipes: sequence parallelism in tensor groups, the distributed optimizer.
TrainingRow nemo_row(const TruthRow& row, RowNumbers& numbers) {
  TrainingRow run;
  run.model = row.text("model");
  run.framework = "megatron_core";
  run.gpus = numbers.count("gpus", most_ranks);
  run.tensor = numbers.count_or("tp", 1, most_ranks);
  run.pipeline = numbers.count_or("pp", 1, most_layers);
  run.context = numbers.count_or("cp", 1, most_ranks);
  run.expert = numbers.count_or("ep", 1, most_ranks);
  run.sequence = true;
  run.sharding = Sharding::optimizer;
  run.recomputes = {Recompute::none, Recompute::full};
  return run;
}

Result<TablePoint> step_point(const TruthRow& row, std::size_t i, TableInputs& inputs) {
  RowNumbers numbers(row);
  TrainingRow run = nemo_row(row, numbers);
  run.cluster = cluster_of(row.text("gpu"));
  run.precision = precision_of(row.text("precision"));
  run.chunks = numbers.count_or("vpp", 0, most_layers);
  run.layers = numbers.count_or("layers", 0, most_layers);
  run.length = numbers.count("seq", most_tokens);
  run.micro_batch = numbers.count_or("micro_batch", 1, most_sequences);
  run.global_batch = numbers.count("global_batch", most_sequences);
  run.shards = numbers.count_or("fsdp", 0, most_ranks);
  const double measured = numbers.measured("step_s");
  if (!numbers.status().ok()) return numbers.status().error();
  if (row.text("task").find("lora") != std::string::npos) {
    return Error{ErrorCode::unsupported, "low-rank adapters are trained, not the model"};
  }
  if (row.text("framework").find("MaxText") != std::string::npos) {
    run.framework = "maxtext_gpu";
    run.sharding = Sharding::parameters;
    run.sequence = false;
  } else {
    run.shards = 0;
  }
  if (row.text("framework").find("axlearn") != std::string::npos) {
    return Error{ErrorCode::unsupported, "no description of this framework"};
  }
  auto scenario = training_scenario(run, inputs);
  if (!scenario.ok()) return std::move(scenario).error();
  TablePoint point = time_point(i, "step_s", predict_row(*scenario), measured);
  point.group = fmt::format("{}, {}", row.text("model"), row.text("precision"));
  return point;
}

Result<TablePoint> bridge_point(const TruthRow& row, std::size_t i, TableInputs& inputs) {
  RowNumbers numbers(row);
  TrainingRow run = nemo_row(row, numbers);
  run.cluster = cluster_of(row.text("system"));
  run.precision = precision_of(row.text("precision"));
  run.chunks = numbers.count_or("vp", 0, most_layers);
  run.length = numbers.count("seq_len", most_tokens);
  run.micro_batch = numbers.count("mbs", most_sequences);
  run.global_batch = numbers.count("gbs", most_sequences);
  const double measured = numbers.measured("tokens_per_s_per_gpu");
  if (numbers.count_or("fsdp", 0, most_ranks, 0) > 0) run.sharding = Sharding::parameters;
  if (!numbers.status().ok()) return numbers.status().error();
  if (row.text("task").find("LoRA") != std::string::npos) {
    return Error{ErrorCode::unsupported, "low-rank adapters are trained, not the model"};
  }
  auto scenario = training_scenario(run, inputs);
  if (!scenario.ok()) return std::move(scenario).error();
  return rate_point(i, "tokens_per_s_per_gpu", predict_row(*scenario),
                    scenario->job.tokens_per_step() / run.gpus, measured);
}

void nemo_points(const TruthRow& row, std::size_t i, TableInputs& inputs, TableResult& result) {
  RowNumbers numbers(row);
  TrainingRow run = nemo_row(row, numbers);
  run.framework = "nemo_2024";
  run.cluster = "dgx_h100";
  run.precision = "fp8";
  run.chunks = numbers.count_or("vp", 0, most_layers);
  run.length = numbers.count("seq", most_tokens);
  run.micro_batch = numbers.count("mbs", most_sequences);
  run.global_batch = numbers.count("gbs", most_sequences);
  const auto refuse = [&](const Error& error) { result.skipped.push_back({i, error.message}); };
  if (!numbers.status().ok()) return refuse(numbers.status().error());
  const auto scenario = training_scenario(run, inputs);
  if (!scenario.ok()) return refuse(scenario.error());
  const RowPrediction prediction = predict_row(*scenario);
  for (const std::string_view column :
       {"tokens_per_s_gpu_a", "tokens_per_s_gpu_b", "tokens_per_s_gpu_c"}) {
    if (row.find(column) == nullptr) continue;
    const auto measured = measured_in(row, column);
    if (!measured.ok()) return refuse(measured.error());
    result.points.push_back(rate_point(i, std::string(column), prediction,
                                       scenario->job.tokens_per_step() / run.gpus, *measured));
  }
}

Result<TablePoint> long_point(const TruthRow& row, std::size_t i, TableInputs& inputs) {
  RowNumbers numbers(row);
  TrainingRow run = nemo_row(row, numbers);
  run.model = "LLAMA2-7B";
  run.framework = "nemo_2024";
  run.cluster = "dgx_h100";
  run.precision = "fp8";
  run.length = 1024 * numbers.count("seq_k", most_tokens / 1024);
  run.micro_batch = 1;
  run.global_batch = numbers.count("batch", most_sequences);
  const double measured = numbers.measured("tokens_per_s_gpu");
  if (!numbers.status().ok()) return numbers.status().error();
  auto scenario = training_scenario(run, inputs);
  if (!scenario.ok()) return std::move(scenario).error();
  return rate_point(i, "tokens_per_s_gpu", predict_row(*scenario),
                    scenario->job.tokens_per_step() / run.gpus, measured);
}

Result<TablePoint> megascale_point(const TruthRow& row, std::size_t i, TableInputs& inputs) {
  if (row.text("system") != "Megatron-LM") {
    return Error{ErrorCode::unsupported,
                 "MegaScale's own parallel block and sliding window change the model"};
  }
  RowNumbers numbers(row);
  TrainingRow run;
  run.model = row.text("model");
  const bool large = run.model == "530B";
  run.cluster = "megascale_a100";
  run.framework = "megatron_lm_2023";
  run.gpus = numbers.count("gpus", most_ranks);
  run.tensor = 8;
  run.pipeline = large ? 35 : 8;
  run.chunks = large ? 3 : 6;
  run.vocabulary = 64000;
  run.length = 2048;
  run.sequence = true;
  run.global_batch = numbers.count("batch", most_sequences);
  run.recomputes = {Recompute::none, Recompute::selective, Recompute::full};
  const double measured = numbers.measured("iteration_s");
  if (!numbers.status().ok()) return numbers.status().error();
  auto scenario = training_scenario(run, inputs);
  if (!scenario.ok()) return std::move(scenario).error();
  return time_point(i, "iteration_s", predict_row(*scenario), measured);
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
