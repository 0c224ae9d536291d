// NVIDIA's DeepLearningExamples: training in fp32 or TF32 and with mixed precision, on one device
// and on eight.
#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "sim/core/params.h"
#include "tests/validation/tables/training_row.h"

namespace foretrace::driver::table_readers::amp_and_ddp_parts {
namespace {

// Batch of LAMB with sequences of 128 and of 512 tokens, over eight devices (You et al., ICLR
// 2020).
constexpr double short_batch = 65536;
constexpr double long_batch = 32768;
constexpr double devices_of_batch = 8;
// Images per device of ConvNets/resnet50v1.5 (README: --batch-size 256 on A100 and V100 with 32
// GB).
constexpr double images_of_device = 256;

// Phase 2, of up to 512 tokens, trains on sequences in bins of 64 tokens
// (scripts/run_pretraining.sh of BERT: phase2_bin_size=64), each batch padded to its bin: half of a
// bin on average. Half of the positions of Wikipedia's sequences of 512 would be padding (Krell et
// al., 2021).
constexpr double binned_from = 512;
constexpr double bin = 64;
constexpr double filled = 0.5;
double tokens_of(double length) {
  return length < binned_from ? length : filled * length + bin / 2;
}

struct Column {
  std::string_view precision;
  std::string_view throughput;
  std::size_t batch;  ///< which number of "128|256"
};
constexpr std::array columns = {Column{"base_precision", "base_throughput", 0},
                                Column{"fast_precision", "fast_throughput", 1}};

/// Precision of a scenario by the table's word.
Result<std::string> precision_called(const std::string& name) {
  if (name == "AMP" || name == "FP16") return std::string("fp16");
  if (name == "TF32") return std::string("tf32");
  if (name == "FP32") return std::string("fp32");
  if (name == "BF16") return std::string("bf16");
  return Error{ErrorCode::not_found, fmt::format("no precision '{}'", name)};
}

/// "128|256": the first or the second number; 0 where a row leaves it out.
Result<double> part_of(const TruthRow& row, std::size_t which) {
  constexpr std::string_view called = "micro_batch_base|fast";
  if (row.find(called) == nullptr) return 0.0;
  const std::string text = row.text(called);
  const auto bar = text.find('|');
  const std::string part = which == 0                 ? text.substr(0, bar)
                           : bar == std::string::npos ? text
                                                      : text.substr(bar + 1);
  const auto number = parse_quantity(part, ParamType::number);
  if (number.ok() && *number >= 1 && *number <= most_sequences) return *number;
  return Error{ErrorCode::bad_format, fmt::format("{}: got {}, expected a number from 1 to {}",
                                                  called, in_quotes(text), most_sequences)};
}

Result<TablePoint> point_of(const TruthRow& row, std::size_t i, const Column& column,
                            TableInputs& inputs) {
  const auto measured = measured_in(row, column.throughput);
  if (!measured.ok()) return measured.error();
  RowNumbers numbers(row);
  const auto precision = precision_called(row.text(column.precision));
  if (!precision.ok()) return precision.error();
  TrainingRow run;
  run.model = row.text("model");
  const std::string gpu = row.text("gpu");
  run.cluster = gpu.find("V100") != std::string::npos ? "dgx1_v100" : cluster_of(gpu);
  run.precision = *precision;
  run.gpus = numbers.count("gpus", most_ranks);
  const double longest = numbers.count_or("seq_len", 0, most_tokens);
  run.length = tokens_of(longest);
  if (!numbers.status().ok()) return numbers.status().error();
  const auto micro_batch = part_of(row, column.batch);
  if (!micro_batch.ok()) return micro_batch.error();
  run.micro_batch = *micro_batch;
  // Without a length images: they are not accumulated.
  const bool images = !(run.length > 0);
  run.framework = images ? "nvidia_resnet_2021" : "nvidia_bert_2021";
  if (images) run.length = 1;
  if (images && !(run.micro_batch > 0)) run.micro_batch = images_of_device;
  if (!(run.micro_batch > 0)) return Error{ErrorCode::bad_format, "no micro-batch"};
  const double batch = images ? 0 : (longest <= 128 ? short_batch : long_batch) / devices_of_batch;
  run.global_batch = std::max(batch, run.micro_batch) * run.gpus;
  run.ignores_memory = true;
  auto scenario = training_scenario(run, inputs);
  if (!scenario.ok()) return std::move(scenario).error();
  TablePoint point = rate_point(i, std::string(column.throughput), predict_row(*scenario),
                                run.global_batch, *measured);
  point.group = images ? fmt::format("{}, {}, images", gpu, *precision)
                       : fmt::format("{}, {}, {:.0f} tokens", gpu, *precision, longest);
  return point;
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  TableResult result;
  result.name = table.id;
  result.unit = "sequences/s";
  for (std::size_t i = 0; i < table.size(); ++i) {
    for (const Column& column : columns) {
      result.add(i, point_of(table.row(i), i, column, inputs));
    }
  }
  result.notes.emplace_back(
      "BERT adds up gradients until every device has had its eighth of 65,536 sequences of 128 "
      "tokens, or of 32,768 longer ones");
  result.notes.emplace_back(
      "sequences of up to 512 tokens have 288 on average: half of 512 are padding in Wikipedia, "
      "and "
      "batches are padded to a multiple of 64");
  return std::vector{std::move(result)};
}

constexpr std::array<std::string_view, 1> names = {"amp_and_ddp_*"};

constexpr TableReaderInfo info = {
    "amp_and_ddp", "mixed precision and data parallelism of NVIDIA's DeepLearningExamples", names,
    read};

}  // namespace
}  // namespace foretrace::driver::table_readers::amp_and_ddp_parts

namespace foretrace::driver::table_readers {
extern const TableReaderInfo amp_and_ddp;
constinit const TableReaderInfo amp_and_ddp = amp_and_ddp_parts::info;
}  // namespace foretrace::driver::table_readers
