// vTrain, MICRO 2024: measured iterations of Megatron-DeepSpeed on one and on many nodes.
#include <array>

#include <fmt/format.h>

#include "apps/driver/validate/tables/row_prediction.h"

namespace foretrace::driver::table_readers::vtrain_parts {
namespace {

constexpr double gpt_vocabulary = 51200;

Result<Scenario> scenario_of(const TruthTable& table, const TruthRow& row, TableInputs& inputs) {
  auto scenario = scenario_on(inputs, "vtrain_a100", "megatron_deepspeed");
  if (!scenario.ok()) return scenario;
  for (const std::string_view column :
       {"hidden", "heads", "layers", "global_batch", "micro_batch"}) {
    if (auto value = needed(row, column); !value.ok()) return std::move(value).error();
  }
  ModelSpec model;
  model.product = fmt::format("GPT, hidden {}, {} layers", row.text("hidden"), row.text("layers"));
  TransformerSpec& spec = model.transformer;
  spec.layers = static_cast<std::uint32_t>(row.number_or("layers", 1));
  spec.hidden = row.number_or("hidden", 1);
  spec.heads = spec.kv_heads = row.number_or("heads", 1);
  spec.head_size = spec.hidden / spec.heads;
  spec.ffn = 4 * spec.hidden;
  spec.vocabulary = gpt_vocabulary;
  spec.positions = row.number_or("seq_len", 2048);
  scenario->model = std::make_shared<const ModelSpec>(std::move(model));
  Job& job = scenario->job;
  job.length = spec.positions;
  job.plan.tensor = static_cast<std::uint32_t>(row.number_or("tp", 1));
  job.plan.data = static_cast<std::uint32_t>(row.number_or("dp", 1));
  job.plan.pipeline = static_cast<std::uint32_t>(row.number_or("pp", 1));
  job.global_batch = row.number_or("global_batch", 1);
  job.micro_batch = row.number_or("micro_batch", 1);
  const ConfigValue* recompute = table.fixed("recompute");
  const bool full = recompute == nullptr || recompute->text.starts_with("full");
  job.recompute = full ? Recompute::full : Recompute::none;
  return complete_scenario(std::move(*scenario));
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  TableResult result;
  result.name = table.id;
  result.unit = "s";
  for (std::size_t i = 0; i < table.size(); ++i) {
    const TruthRow row = table.row(i);
    const auto measured = row.number("iter_ms");
    auto scenario = scenario_of(table, row, inputs);
    if (!scenario.ok() || !measured.has_value()) {
      result.skipped.push_back(
          {i, scenario.ok() ? "no number in column iter_ms" : scenario.error().message});
      continue;
    }
    const auto prediction = predict_row(*scenario);
    if (!prediction.ok()) {
      result.skipped.push_back({i, prediction.error().message});
      continue;
    }
    TablePoint point = time_point(i, "iter_ms", *prediction, *measured * 1e-3);
    // The rows of one node are linear in micro-batches and layers within a group: one measurement.
    point.group = fmt::format("hidden {}, tensor {}, micro-batch {}", row.text("hidden"),
                              row.text("tp"), row.text("micro_batch"));
    result.points.push_back(std::move(point));
  }
  return std::vector<TableResult>{std::move(result)};
}

constexpr std::array<std::string_view, 2> names = {"vtrain_single_node", "vtrain_multi_node"};

constexpr TableReaderInfo info = {
    "vtrain", "iterations of GPT models under Megatron-DeepSpeed on A100", names, read};

}  // namespace
}  // namespace foretrace::driver::table_readers::vtrain_parts

namespace foretrace::driver::table_readers {
extern const TableReaderInfo vtrain;
constinit const TableReaderInfo vtrain = vtrain_parts::info;
}  // namespace foretrace::driver::table_readers
