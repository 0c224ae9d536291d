// vTrain, MICRO 2024: measured iterations of Megatron-DeepSpeed on one and on many nodes.
#include <array>

#include <fmt/format.h>

#include "tests/validation/tables/row_prediction.h"

namespace foretrace::driver::table_readers::vtrain_parts {
namespace {

constexpr double gpt_vocabulary = 51200;

Result<Scenario> scenario_of(const TruthTable& table, const TruthRow& row, TableInputs& inputs) {
  RowNumbers numbers(row);
  auto scenario = scenario_on(inputs, "vtrain_a100", "megatron_deepspeed");
  if (!scenario.ok()) return scenario;
  ModelSpec model;
  model.product = fmt::format("GPT, hidden {}, {} layers", row.text("hidden"), row.text("layers"));
  TransformerSpec& spec = model.transformer;
  spec.layers = static_cast<std::uint32_t>(numbers.count("layers", most_layers));
  spec.hidden = numbers.count("hidden", most_width);
  spec.heads = spec.kv_heads = numbers.count("heads", spec.hidden);
  spec.head_size = spec.hidden / spec.heads;
  spec.ffn = 4 * spec.hidden;
  spec.vocabulary = gpt_vocabulary;
  spec.positions = numbers.count_or("seq_len", 2048, most_tokens);
  scenario->model = std::make_shared<const ModelSpec>(std::move(model));
  Job& job = scenario->job;
  job.length = spec.positions;
  job.plan.tensor = static_cast<std::uint32_t>(numbers.count_or("tp", 1, most_ranks));
  job.plan.data = static_cast<std::uint32_t>(numbers.count_or("dp", 1, most_ranks));
  job.plan.pipeline = static_cast<std::uint32_t>(numbers.count_or("pp", 1, most_layers));
  job.global_batch = numbers.count("global_batch", most_sequences);
  job.micro_batch = numbers.count("micro_batch", most_sequences);
  if (!numbers.status().ok()) return numbers.status().error();
  const ConfigValue* recompute = table.fixed("recompute");
  const bool full = recompute == nullptr || recompute->text.starts_with("full");
  job.recompute = full ? Recompute::full : Recompute::none;
  return complete_scenario(std::move(*scenario));
}

Result<TablePoint> point_of(const TruthTable& table, std::size_t i, TableInputs& inputs) {
  const TruthRow row = table.row(i);
  const auto scenario = scenario_of(table, row, inputs);
  if (!scenario.ok()) return scenario.error();
  const auto measured = measured_in(row, "iter_ms");
  if (!measured.ok()) return measured.error();
  TablePoint point = time_point(i, "iter_ms", predict_row(*scenario), *measured * 1e-3);
  // The rows of one node are linear in micro-batches and layers within a group: one measurement.
  point.group = fmt::format("hidden {}, tensor {}, micro-batch {}", row.text("hidden"),
                            row.text("tp"), row.text("micro_batch"));
  return point;
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  TableResult result;
  result.name = table.id;
  result.unit = "s";
  for (std::size_t i = 0; i < table.size(); ++i) result.add(i, point_of(table, i, inputs));
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
