// Narayanan et al., SC 2021, and Megatron-Turing NLG 530B: throughput of large GPT models on
// Selene.
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "apps/driver/scenario/open_choices.h"
#include "tests/validation/tables/row_prediction.h"

namespace foretrace::driver::table_readers::megatron_sc21_parts {
namespace {

constexpr double memory_share = 0.94;  // of the device, beside context and libraries

struct Shape {
  std::uint32_t layers = 0;
  double hidden = 0;
  double heads = 0;
};

// The sizes of the paper's models by billions of parameters (Table 1), for tables that name the
// parameters alone.
Result<Shape> shape_of(double billions) {
  struct Known {
    double billions;
    Shape shape;
  };
  constexpr std::array known = {Known{174.6, {96, 12288, 96}}, Known{145.6, {80, 12288, 96}},
                                Known{310.1, {96, 16384, 128}}, Known{529.6, {105, 20480, 128}},
                                Known{1008.0, {128, 25600, 160}}};
  for (const Known& one : known) {
    if (std::abs(one.billions / billions - 1) < 0.01) return one.shape;
  }
  return Error{ErrorCode::bad_format, "no size of the model (layers, hidden, heads)"};
}

// MT-NLG states its model for all rows.
Result<Shape> shape_in(RowNumbers& numbers) {
  const double layers = numbers.count_or("layers", 0, most_layers);
  if (!numbers.status().ok()) return numbers.status().error();
  if (layers < 1) return shape_of(numbers.number_or("params_b", 529.6, 1e-3, 1e6));
  const double hidden = numbers.count("hidden", most_width);
  return Shape{static_cast<std::uint32_t>(layers), hidden, numbers.count("heads", hidden)};
}

// FLOPs of a step as the paper counts them, with all activations recomputed.
double counted_flops(const Scenario& scenario) {
  const TransformerSpec& spec = *scenario.job.model;
  const double s = scenario.job.length;
  const double h = spec.hidden;
  const double l = spec.layers;
  return 96 * scenario.job.global_batch * s * l * h * h * (1 + s / (6 * h) + 51200 / (16 * l * h));
}

Result<Scenario> scenario_of(const TruthTable& table, const TruthRow& row, const Shape& shape,
                             TableInputs& inputs) {
  const std::string scheme = row.text("scheme");
  const bool zero3 = scheme.starts_with("ZeRO");
  // MT-NLG: tensor parallelism of Megatron, pipeline and optimizer of DeepSpeed, gradients added up
  // in fp32 (Smith et al., 2022, section 2).
  const bool mtnlg = table.id.starts_with("mtnlg");
  RowNumbers numbers(row);
  auto scenario = scenario_on(inputs, "selene",
                              zero3   ? "deepspeed_zero3_2021"
                              : mtnlg ? "megatron_deepspeed"
                                      : "megatron_2021");
  if (!scenario.ok()) return scenario;
  ModelSpec model;
  model.product = fmt::format("GPT, hidden {}, {} layers", shape.hidden, shape.layers);
  TransformerSpec& spec = model.transformer;
  spec.layers = shape.layers;
  spec.hidden = shape.hidden;
  spec.heads = spec.kv_heads = shape.heads;
  spec.head_size = spec.hidden / spec.heads;
  spec.ffn = 4 * spec.hidden;
  RowNumbers fixed(table.fixed_row());
  spec.vocabulary = fixed.count_or("vocab", 51200, most_tokens);
  spec.positions = fixed.count_or("seq_len", 2048, most_tokens);
  if (!fixed.status().ok()) return fixed.status().error();
  scenario->model = std::make_shared<const ModelSpec>(std::move(model));
  Job& job = scenario->job;
  job.length = spec.positions;
  job.recompute = Recompute::full;
  const double gpus = numbers.count("gpus", most_ranks);
  const double model_ranks = numbers.count_or("model_parallel_size", 1, most_ranks);
  const double tensor = numbers.count_or("tp", model_ranks >= 8 ? 8 : model_ranks, most_ranks);
  const double pipeline = numbers.count_or("pp", std::floor(model_ranks / tensor), most_layers);
  job.global_batch = numbers.count("global_batch", most_sequences);
  job.micro_batch = numbers.count_or("micro_batch", 1, most_sequences);
  if (!numbers.status().ok()) return numbers.status().error();
  const auto copies = copies_of(gpus, tensor * pipeline);
  if (!copies.ok()) return copies.error();
  const double data = numbers.count_or("dp", *copies, most_ranks);
  if (!numbers.status().ok()) return numbers.status().error();
  job.plan.tensor = static_cast<std::uint32_t>(tensor);
  job.plan.pipeline = static_cast<std::uint32_t>(pipeline);
  job.plan.data = static_cast<std::uint32_t>(data);
  if (zero3) job.plan.sharding = Sharding::parameters;
  return scenario;
}

// What a row leaves open is what runs fastest within memory: the authors chose it so.
Result<RowPrediction> predicted(const Scenario& scenario, const TruthRow& row) {
  OpenChoices open;
  if (row.find("micro_batch") == nullptr) open.micro_batches = {1, 2, 4, 8, 16};
  if (scenario.job.plan.pipeline > 1) open.chunks = {1};
  open.memory_bytes =
      memory_share * static_cast<double>(scenario.cluster->accelerator.memory_bytes);
  auto best = fastest_choice(scenario, open);
  if (!best.ok()) return std::move(best).error();
  return predict_row(*best);
}

Result<TablePoint> point_of(const TruthTable& table, std::size_t i, TableInputs& inputs) {
  const TruthRow row = table.row(i);
  RowNumbers numbers(row);
  const auto shape = shape_in(numbers);
  const double gpus = numbers.count("gpus", most_ranks);
  const auto rate = numbers.optional_measured("tflops_per_gpu");
  const auto measured = numbers.optional_measured("iter_s");
  if (!numbers.status().ok()) return numbers.status().error();
  if (!shape.ok()) return shape.error();
  auto scenario = scenario_of(table, row, *shape, inputs);
  if (!scenario.ok()) return std::move(scenario).error();
  const double flops = [&] {
    Scenario counted = *scenario;
    counted.job.model = &counted.model->transformer;
    return counted_flops(counted);
  }();
  if (!rate.has_value() && !measured.has_value()) {
    return Error{ErrorCode::bad_format, "neither iter_s nor tflops_per_gpu"};
  }
  auto prediction = predicted(*scenario, row);
  if (!prediction.ok()) return std::move(prediction).error();
  const double seconds = measured.has_value() ? *measured : flops / (gpus * *rate * 1e12);
  TablePoint point =
      time_point(i, measured.has_value() ? "iter_s" : "tflops_per_gpu", *prediction, seconds);
  point.group = row.text("scheme");
  return point;
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  TableResult result;
  result.name = table.id;
  result.unit = "s";
  for (std::size_t i = 0; i < table.size(); ++i) {
    result.add(i, point_of(table, i, inputs));
  }
  result.notes.emplace_back(
      "micro-batch and interleaving that a row does not state are the fastest within memory");
  return std::vector<TableResult>{std::move(result)};
}

constexpr std::array<std::string_view, 3> names = {
    "megatron_sc21_weak_scaling", "megatron_sc21_ptdp_vs_zero3", "mtnlg_530b_iteration"};

constexpr TableReaderInfo info = {
    "megatron_sc21", "throughput of GPT 1.7B to 1T on Selene: 3D parallel, ZeRO-3, MT-NLG", names,
    read};

}  // namespace
}  // namespace foretrace::driver::table_readers::megatron_sc21_parts

namespace foretrace::driver::table_readers {
extern const TableReaderInfo megatron_sc21;
constinit const TableReaderInfo megatron_sc21 = megatron_sc21_parts::info;
}  // namespace foretrace::driver::table_readers
