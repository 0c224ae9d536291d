// Korthikanti et al., MLSys 2023: iterations, one layer, and the memory formulas of the paper.
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "models/jobs/program/estimate.h"
#include "tests/validation/tables/row_prediction.h"

namespace foretrace::table_readers::korthikanti_parts {
namespace {

constexpr std::string_view machine = "selene";
constexpr std::string_view framework = "megatron_2022";
constexpr double gib = 1024.0 * 1024 * 1024;

struct Run {
  Recompute recompute = Recompute::none;
  bool sequence = false;
};

Result<Scenario> scenario_of(const TruthTable& table, const TruthRow& dims, const TruthRow& row,
                             TableInputs& inputs, const Run& run) {
  FORETRACE_TRY(auto scenario, scenario_on(inputs, std::string(machine), std::string(framework)));
  ModelSpec model;
  model.product = "GPT " + dims.text("model");
  TransformerSpec& spec = model.transformer;
  RowNumbers sizes(dims);
  RowNumbers fixed(table.fixed_row());
  RowNumbers numbers(row);
  spec.layers = static_cast<std::uint32_t>(sizes.count("layers", most_layers));
  spec.hidden = sizes.count("hidden", most_width);
  spec.heads = spec.kv_heads = sizes.count("heads", spec.hidden);
  spec.head_size = spec.hidden / spec.heads;
  spec.ffn = spec.hidden * fixed.number_or("ffn_mult", 4, 1, 64);
  spec.vocabulary = fixed.count_or("vocab", 51200, most_tokens);
  spec.positions = fixed.count_or("seq_len", 2048, most_tokens);
  scenario.model = std::make_shared<const ModelSpec>(std::move(model));
  Job& job = scenario.job;
  job.length = spec.positions;
  job.plan.tensor = static_cast<std::uint32_t>(numbers.count_or("tp", 1, most_ranks));
  job.plan.pipeline = static_cast<std::uint32_t>(numbers.count_or("pp", 1, most_layers));
  job.plan.data = static_cast<std::uint32_t>(numbers.count_or("dp", 1, most_ranks));
  job.plan.sequence = run.sequence;
  job.recompute = run.recompute;
  job.micro_batch = numbers.count_or("micro_batch", 1, most_sequences);
  job.global_batch =
      numbers.count_or("global_batch", job.micro_batch * job.plan.data, most_sequences);
  job.chunks = static_cast<std::uint32_t>(sizes.count_or("interleave", 1, most_layers));
  for (const RowNumbers* read : {&sizes, &fixed, &numbers}) {
    FORETRACE_TRY(read->status());
  }
  if (job.chunks > 1) {
    FORETRACE_TRY(job.schedule, find_schedule("interleaved"));
  }
  return complete_scenario(std::move(scenario));
}

// The record of the same model that states its size.
TruthRow sized(const TruthTable& table, const TruthRow& row) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    const TruthRow other = table.row(i);
    if (other.text("model") == row.text("model") && other.find("layers") != nullptr) {
      return other;
    }
  }
  return row;
}

Run run_of_case(const std::string& name) {
  if (name == "sequence_parallel" || name == "seq") return {Recompute::none, true};
  if (name == "full_recompute" || name == "full") return {Recompute::full, false};
  if (name == "selective") return {Recompute::selective, false};
  if (name == "selective_plus_seqpar" || name == "seq_selective")
    return {Recompute::selective, true};
  return {};
}

void iterations(const TruthTable& table, std::size_t i, TableInputs& inputs, TableResult& result) {
  const TruthRow row = table.row(i);
  struct Column {
    std::string_view name;
    Run run;
  };
  constexpr std::array columns = {Column{"iter_s_full_recompute", {Recompute::full, false}},
                                  Column{"iter_s_seqpar_selective", {Recompute::selective, true}}};
  for (const Column& column : columns) {
    if (row.find(column.name) == nullptr) continue;
    result.add(i, [&]() -> Result<TablePoint> {
      FORETRACE_TRY(const auto measured, measured_in(row, column.name));
      FORETRACE_TRY(const auto scenario,
                    scenario_of(table, sized(table, row), row, inputs, column.run));
      FORETRACE_TRY(const auto prediction, predict_row(scenario));
      return time_point(i, std::string(column.name), prediction, measured);
    }());
  }
}

void layers(const TruthTable& table, std::size_t i, TableInputs& inputs, TableResult& result) {
  const TruthRow row = table.row(i);
  TruthRow dims = sized(table, row);
  const auto scenario = scenario_of(table, dims, row, inputs, run_of_case(row.text("case")));
  if (!scenario.ok()) {
    result.skipped.push_back({i, scenario.error().message});
    return;
  }
  const auto program = build_program(scenario->job);
  if (!program.ok()) {
    result.skipped.push_back({i, program.error().message});
    return;
  }
  const auto layer_ms = [&](const SourceScale& scale, std::string_view column) {
    const RankProgram scaled = timed(scenario->job, *program, scale);
    for (const RankProgram::Block& block : *scaled.blocks) {
      if (block.role != BlockRole::layer) continue;
      const double forward = column == "bwd" ? 0 : block.forward.time.total;
      const double backward = column == "fwd" ? 0 : block.backward.time.total;
      return (forward + backward) * 1e-6;
    }
    return 0.0;
  };
  const KernelTimes kernels(*scenario->cluster, *scenario->framework, scenario->job.precisions);
  for (const std::string_view column : {"fwd", "bwd", "total"}) {
    if (row.find(column) == nullptr) continue;
    const auto measured = measured_in(row, column);
    if (!measured.ok()) {
      result.skipped.push_back({i, measured.error().message});
      continue;
    }
    const double point = layer_ms(no_scale(), column);
    double below = 0;
    double above = 0;
    for (const CostSource source : {CostSource::product, CostSource::memory, CostSource::local}) {
      const Ranged spread = kernels.spread(source);
      SourceScale scale = no_scale();
      scale[static_cast<std::size_t>(source)] = spread.low;
      below += std::pow(layer_ms(scale, column) - point, 2);
      scale[static_cast<std::size_t>(source)] = spread.high;
      above += std::pow(layer_ms(scale, column) - point, 2);
    }
    result.points.push_back({i, std::string(column), point, point - std::sqrt(below),
                             point + std::sqrt(above), *measured, row.text("case")});
  }
}

// The paper counts layers only: no embedding, no head.
struct LayerMemory {
  double states = 0;
  double activations = 0;
};
Result<LayerMemory> memory_of(const Scenario& scenario) {
  const Job& job = scenario.job;
  RankProgram program = lower_blocks(job);
  auto blocks = std::make_shared<std::vector<RankProgram::Block>>(*program.blocks);
  for (RankProgram::Block& block : *blocks) {
    if (block.role == BlockRole::layer) continue;
    block.dense_weights = block.kept_bytes = block.working_bytes = 0;
  }
  program.blocks = std::move(blocks);
  program.hidden_bytes = program.tied_weights = 0;
  FORETRACE_TRY(const auto laid, laid_out(job, std::move(program), no_scale()));
  const StageMemory first = stage_memory(job, laid).front();
  return LayerMemory{first.weights + first.gradients + first.optimizer, first.activations};
}

void memory(const TruthTable& table, std::size_t i, TableInputs& inputs, TableResult& result) {
  const TruthRow row = table.row(i);
  const auto add = [&](const std::string& name, const TruthRow& values, std::string_view column,
                       double predicted) {
    if (values.find(column) == nullptr) return;
    const auto measured = measured_in(values, column);
    if (!measured.ok()) return result.skipped.push_back({i, measured.error().message});
    result.points.push_back({i, fmt::format("fig1_gib.{}.{}", name, column), predicted, predicted,
                             predicted, *measured});
  };
  if (const ConfigValue* figure = row.find("fig1_gib"); figure != nullptr) {
    for (std::size_t c = 0; c < figure->keys.size(); ++c) {
      const std::string& name = figure->keys[c];
      const auto scenario = scenario_of(table, row, row, inputs, run_of_case(name));
      if (!scenario.ok()) {
        result.skipped.push_back({i, scenario.error().message});
        continue;
      }
      const auto held = memory_of(*scenario);
      if (!held.ok()) {
        result.skipped.push_back({i, held.error().message});
        continue;
      }
      const TruthRow values(table.columns, figure->items[c]);
      add(name, values, "param_optimizer", held->states / gib);
      add(name, values, "activation", held->activations / gib);
    }
  }
}

void shares(const TruthTable& table, std::size_t i, TableInputs& inputs, TableResult& result) {
  const TruthRow row = table.row(i);
  const ConfigValue* figure = row.find("fig7_activation_memory_pct_of_tp_baseline");
  if (figure == nullptr) return;
  const auto base = scenario_of(table, row, row, inputs, {});
  if (!base.ok()) return result.skipped.push_back({i, base.error().message});
  const auto whole = memory_of(*base);
  if (!whole.ok()) return result.skipped.push_back({i, whole.error().message});
  for (std::size_t c = 0; c < figure->keys.size(); ++c) {
    const std::string& name = figure->keys[c];
    if (name == "tp_baseline") continue;
    result.add(i, [&]() -> Result<TablePoint> {
      FORETRACE_TRY(const auto measured, measured_in({table.columns, *figure}, name));
      FORETRACE_TRY(const auto scenario, scenario_of(table, row, row, inputs, run_of_case(name)));
      FORETRACE_TRY(const auto held, memory_of(scenario));
      const double share = 100 * held.activations / whole->activations;
      return TablePoint{
          i, "fig7_activation_memory_pct_of_tp_baseline." + name, share, share, share, measured};
    }());
  }
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  std::vector<TableResult> results(4);
  results[0].name = table.id;
  results[0].unit = "s";
  results[1].name = table.id + ".layer_ms";
  results[1].unit = "ms";
  results[2].name = table.id + ".memory_gib";
  results[2].unit = "GiB";
  results[3].name = table.id + ".activation_pct";
  results[3].unit = "%";
  results[3].is_share = true;
  for (std::size_t i = 0; i < table.size(); ++i) {
    iterations(table, i, inputs, results[0]);
    if (table.row(i).text("kind") == "layer_ms") layers(table, i, inputs, results[1]);
    memory(table, i, inputs, results[2]);
    shares(table, i, inputs, results[3]);
  }
  return results;
}

constexpr std::array<std::string_view, 1> names = {"korthikanti_recompute"};

constexpr TableReaderInfo info = {
    "korthikanti", "iterations, layers and memory of GPT 22B to 1T on Selene", names, read};

}  // namespace
}  // namespace foretrace::table_readers::korthikanti_parts

namespace foretrace::table_readers {
extern const TableReaderInfo korthikanti;
constinit const TableReaderInfo korthikanti = korthikanti_parts::info;
}  // namespace foretrace::table_readers
