// Fully sharded training: MosaicML's MPT models and torchtitan's Llama 3.1.
#include <array>

#include <fmt/format.h>

#include "tests/validation/tables/training_row.h"

namespace foretrace::driver::table_readers::fsdp_parts {
namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

Result<TablePoint> mosaic_point(const TruthRow& row, std::size_t i, TableInputs& inputs) {
  RowNumbers numbers(row);
  TrainingRow run;
  run.model = "mpt-" + row.text("model");
  const std::string gpu = row.text("gpu");
  run.cluster = gpu.starts_with("h100") ? "mosaic_h100"
                : gpu == "a100_40gb"    ? "mosaic_a100_40gb"
                                        : "mosaic_a100";
  run.framework = "llm_foundry_2023";
  run.precision = row.text("precision").find("fp8") != std::string::npos ? "fp8" : "bf16";
  run.gpus = numbers.count("gpus", most_ranks);
  run.length = numbers.count("seq_len", most_tokens);
  run.micro_batch = numbers.count("micro_batch", most_sequences);
  run.global_batch = numbers.count("global_batch", most_sequences);
  const std::string sharding = row.text("sharding");
  run.sharding = sharding == "FULL_SHARD"      ? Sharding::parameters
                 : sharding == "SHARD_GRAD_OP" ? Sharding::gradients
                                               : Sharding::none;
  run.recomputes = {row.text("activation_ckpt") == "true" ? Recompute::full : Recompute::none};
  run.ignores_memory = true;
  const double measured = numbers.measured("tokens_per_s");
  if (!numbers.status().ok()) return numbers.status().error();
  auto scenario = training_scenario(run, inputs);
  if (!scenario.ok()) return std::move(scenario).error();
  TablePoint point = rate_point(i, "tokens_per_s", predict_row(*scenario),
                                scenario->job.tokens_per_step(), measured);
  point.group = row.text("section");
  return point;
}

TrainingRow titan_row(const TruthRow& row, RowNumbers& numbers) {
  TrainingRow run;
  run.model = row.text("model");
  run.cluster = "torchtitan_h100";
  run.gpus = numbers.count("gpus", most_ranks);
  run.tensor = numbers.count_or("tp", 1, most_ranks);
  run.pipeline = numbers.count_or("pp", 1, most_layers);
  run.context = numbers.count_or("cp", 1, most_ranks);
  run.length = numbers.count_or("seq_len", 8192, most_tokens);
  run.sequence = true;
  run.sharding = Sharding::parameters;
  run.micro_batch = numbers.count_or("local_batch", 1, most_sequences);
  const double data = run.gpus / (run.tensor * run.pipeline * run.context);
  run.global_batch = numbers.count_or("global_batch", run.micro_batch * data, most_sequences);
  run.recomputes = {row.text("activation_ckpt") == "full"        ? Recompute::full
                    : row.text("activation_ckpt") == "selective" ? Recompute::operators
                                                                 : Recompute::none};
  run.ignores_memory = true;
  return run;
}

// With pipelines the local batch is cut into micro-batches of one sequence.
void cut_batch(const TruthRow& row, TrainingRow& run) {
  if (run.pipeline <= 1) return;
  run.micro_batch = 1;
  const std::string schedule = row.text("schedule");
  if (schedule.find("Interleaved") != std::string::npos) run.chunks = 2;
}

void titan_points(const TruthRow& row, std::size_t i, TableInputs& inputs, TableResult& times,
                  TableResult& memory) {
  RowNumbers numbers(row);
  TrainingRow run = titan_row(row, numbers);
  cut_batch(row, run);
  const bool async = numbers.flag("async_tp");
  const bool compiled = numbers.flag("compile");
  run.framework = async ? "torchtitan_async_tp" : compiled ? "torchtitan" : "torchtitan_eager";
  if (numbers.flag("float8")) run.precision = "fp8";
  const auto rate = numbers.optional_measured("tokens_per_s_per_gpu");
  const auto memory_gib = numbers.optional_measured("memory_gib");
  const auto refuse = [&](const Error& error) { times.skipped.push_back({i, error.message}); };
  if (!numbers.status().ok()) return refuse(numbers.status().error());
  const auto scenario = training_scenario(run, inputs);
  if (!scenario.ok()) return refuse(scenario.error());
  const RowPrediction prediction = predict_row(*scenario);
  if (rate.has_value()) {
    times.points.push_back(rate_point(i, "tokens_per_s_per_gpu", prediction,
                                      scenario->job.tokens_per_step() / run.gpus, *rate));
  }
  if (memory_gib.has_value()) {
    const double bytes = prediction.memory_bytes / gib;
    memory.points.push_back({i, "memory_gib", bytes, 0.92 * bytes, 1.1 * bytes, *memory_gib});
  }
}

void async_points(const TruthRow& row, std::size_t i, TableInputs& inputs, TableResult& times) {
  struct Column {
    std::string_view name;
    std::string_view framework;
  };
  constexpr std::array columns = {Column{"tokens_per_s_vanilla_tp", "torchtitan"},
                                  Column{"tokens_per_s_async_tp", "torchtitan_async_tp"}};
  for (const Column& column : columns) {
    RowNumbers numbers(row);
    TrainingRow run = titan_row(row, numbers);
    run.framework = column.framework;
    const std::string precision = row.text("precision");
    if (precision.find("rowwise") != std::string::npos) {
      times.skipped.push_back({i, "no rates of products with a scale per row"});
      break;
    }
    if (precision.starts_with("float8")) run.precision = "fp8";
    const double measured = numbers.measured(column.name);
    times.add(i, [&]() -> Result<TablePoint> {
      if (!numbers.status().ok()) return numbers.status().error();
      const auto scenario = training_scenario(run, inputs);
      if (!scenario.ok()) return scenario.error();
      return rate_point(i, std::string(column.name), predict_row(*scenario),
                        scenario->job.tokens_per_step() / run.gpus, measured);
    }());
  }
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  TableResult times;
  times.name = table.id;
  times.unit = "tokens/s per accelerator";
  TableResult memory;
  memory.name = table.id + ".memory_gib";
  memory.unit = "GiB";
  for (std::size_t i = 0; i < table.size(); ++i) {
    const TruthRow row = table.row(i);
    if (table.id == "mosaicml_mpt_fsdp") {
      times.unit = "tokens/s";
      times.add(i, mosaic_point(row, i, inputs));
    } else if (table.id == "torchtitan_async_tp_h100") {
      async_points(row, i, inputs, times);
    } else {
      titan_points(row, i, inputs, times, memory);
    }
  }
  std::vector<TableResult> results = {std::move(times)};
  if (!memory.points.empty()) results.push_back(std::move(memory));
  return results;
}

constexpr std::array<std::string_view, 2> names = {"mosaicml_mpt_fsdp", "torchtitan_*"};

constexpr TableReaderInfo info = {
    "fsdp", "fully sharded training of MPT and Llama models on A100 and H100", names, read};

}  // namespace
}  // namespace foretrace::driver::table_readers::fsdp_parts

namespace foretrace::driver::table_readers {
extern const TableReaderInfo fsdp;
constinit const TableReaderInfo fsdp = fsdp_parts::info;
}  // namespace foretrace::driver::table_readers
