// Fully sharded training: MosaicML's MPT models and torchtitan's Llama 3.1.
#include <array>

#include <fmt/format.h>

#include "apps/driver/validate/tables/training_row.h"

namespace foretrace::driver::table_readers::fsdp_parts {
namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

Result<TablePoint> mosaic_point(const TruthRow& row, std::size_t i, TableInputs& inputs) {
  TrainingRow run;
  run.model = "mpt-" + row.text("model");
  const std::string gpu = row.text("gpu");
  run.cluster = gpu.starts_with("h100") ? "mosaic_h100"
                : gpu == "a100_40gb"    ? "mosaic_a100_40gb"
                                        : "mosaic_a100";
  run.framework = "llm_foundry_2023";
  run.precision = row.text("precision").find("fp8") != std::string::npos ? "fp8" : "bf16";
  run.gpus = number_in(row, "gpus", 1);
  run.length = number_in(row, "seq_len", 2048);
  run.micro_batch = number_in(row, "micro_batch", 1);
  run.global_batch = number_in(row, "global_batch", 1);
  const std::string sharding = row.text("sharding");
  run.sharding = sharding == "FULL_SHARD"      ? Sharding::parameters
                 : sharding == "SHARD_GRAD_OP" ? Sharding::gradients
                                               : Sharding::none;
  run.recomputes = {row.text("activation_ckpt") == "true" ? Recompute::full : Recompute::none};
  run.ignores_memory = true;
  const auto measured = row.number("tokens_per_s");
  if (!measured.has_value())
    return Error{ErrorCode::bad_format, "no number in column tokens_per_s"};
  auto scenario = training_scenario(run, inputs);
  if (!scenario.ok()) return std::move(scenario).error();
  const auto prediction = predict_row(*scenario);
  if (!prediction.ok()) return prediction.error();
  TablePoint point =
      rate_point(i, "tokens_per_s", *prediction, scenario->job.tokens_per_step(), *measured);
  point.group = row.text("section");
  return point;
}

TrainingRow titan_row(const TruthRow& row) {
  TrainingRow run;
  run.model = row.text("model");
  run.cluster = "torchtitan_h100";
  run.gpus = number_in(row, "gpus", 1);
  run.tensor = number_in(row, "tp", 1);
  run.pipeline = number_in(row, "pp", 1);
  run.context = number_in(row, "cp", 1);
  run.length = number_in(row, "seq_len", 8192);
  run.sequence = true;
  run.sharding = Sharding::parameters;
  run.micro_batch = number_in(row, "local_batch", 1);
  const double data = run.gpus / (run.tensor * run.pipeline * run.context);
  run.global_batch = number_in(row, "global_batch", run.micro_batch * data);
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
  TrainingRow run = titan_row(row);
  cut_batch(row, run);
  run.framework = row.number_or("async_tp", 0) > 0  ? "torchtitan_async_tp"
                  : row.number_or("compile", 0) > 0 ? "torchtitan"
                                                    : "torchtitan_eager";
  if (row.number_or("float8", 0) > 0) run.precision = "fp8";
  const auto scenario = training_scenario(run, inputs);
  if (!scenario.ok()) {
    times.skipped.push_back({i, scenario.error().message});
    return;
  }
  const auto prediction = predict_row(*scenario);
  if (!prediction.ok()) {
    times.skipped.push_back({i, prediction.error().message});
    return;
  }
  if (const auto measured = row.number("tokens_per_s_per_gpu")) {
    times.points.push_back(rate_point(i, "tokens_per_s_per_gpu", *prediction,
                                      scenario->job.tokens_per_step() / run.gpus, *measured));
  }
  if (const auto measured = row.number("memory_gib")) {
    const double bytes = prediction->memory_bytes / gib;
    memory.points.push_back({i, "memory_gib", bytes, 0.92 * bytes, 1.1 * bytes, *measured});
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
    TrainingRow run = titan_row(row);
    run.framework = column.framework;
    const std::string precision = row.text("precision");
    if (precision.find("rowwise") != std::string::npos) {
      times.skipped.push_back({i, "no rates of products with a scale per row"});
      break;
    }
    if (precision.starts_with("float8")) run.precision = "fp8";
    const auto measured = row.number(column.name);
    const auto scenario = training_scenario(run, inputs);
    if (!scenario.ok() || !measured.has_value()) {
      times.skipped.push_back({i, scenario.ok() ? "no number" : scenario.error().message});
      continue;
    }
    const auto prediction = predict_row(*scenario);
    if (!prediction.ok()) {
      times.skipped.push_back({i, prediction.error().message});
      continue;
    }
    times.points.push_back(rate_point(i, std::string(column.name), *prediction,
                                      scenario->job.tokens_per_step() / run.gpus, *measured));
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
