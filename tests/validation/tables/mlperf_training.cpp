// MLPerf Training v0.7: time to train of BERT, whose samples to the target are in the table, and
// the epochs of ResNet-50.
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "apps/driver/training/time_to_train.h"
#include "tests/validation/tables/training_row.h"

namespace foretrace::driver::table_readers::mlperf_training_parts {
namespace {

// The benchmark trains the second phase of BERT (Mattson et al., MLSys 2020; reference of v0.7).
constexpr double bert_tokens = 512;

/// What the logs say of one system.
struct LoggedRun {
  TrainingRow row;
  double batch = 1;
  double samples = 1;
};

Result<LoggedRun> run_of(const TruthRow& row) {
  LoggedRun run;
  const std::string benchmark = row.text("benchmark");
  if (benchmark == "bert") {
    run.row.model = "bert_large";
    run.row.length = bert_tokens;
  } else if (benchmark == "resnet") {
    run.row.model = "resnet50";
    run.row.length = 1;
  } else {
    return Error{ErrorCode::not_found, fmt::format("no model of ours for {}", benchmark)};
  }
  RowNumbers numbers(row);
  run.row.gpus = numbers.count("chips", most_ranks);
  run.row.global_batch = run.batch = numbers.count("global_batch", most_sequences);
  run.samples = numbers.count("train_samples", 1e12);
  if (!numbers.status().ok()) return numbers.status().error();
  const std::string accelerator = row.text("accelerator");
  if (accelerator.starts_with("V100")) run.row.cluster = "dgx1_v100";
  if (accelerator == "A100-40GB") run.row.cluster = "dgx_a100_40gb";
  if (run.row.cluster.empty()) {
    return Error{ErrorCode::not_found, fmt::format("no cluster file of {}", accelerator)};
  }
  run.row.framework = "nvidia_bert_2021";
  run.row.precision = "fp16";
  run.row.micro_batch = run.batch / run.row.gpus;
  run.row.ignores_memory = true;
  return run;
}

Result<std::pair<LoggedRun, RowPrediction>> step_of(const TruthRow& row, TableInputs& inputs) {
  auto run = run_of(row);
  if (!run.ok()) return std::move(run).error();
  const auto scenario = training_scenario(run->row, inputs);
  if (!scenario.ok()) return scenario.error();
  return std::pair{*std::move(run), predict_row(*scenario)};
}

/// An epoch has as many steps as its samples fill, the last one in part.
Result<TablePoint> epoch_point(const TruthRow& row, std::size_t i, TableInputs& inputs) {
  const auto measured = measured_in(row, "median_epoch_s");
  if (!measured.ok()) return measured.error();
  auto found = step_of(row, inputs);
  if (!found.ok()) return std::move(found).error();
  auto& [run, step] = *found;
  for (double* const s : {&step.step_s, &step.low_s, &step.high_s}) *s *= run.samples / run.batch;
  TablePoint point = time_point(i, "median_epoch_s", step, *measured);
  point.group = row.text("accelerator");
  return point;
}

/// From the first step to the target.
Result<TablePoint> run_point(const TruthRow& row, std::size_t i, TableInputs& inputs) {
  const auto minutes = measured_in(row, "olympic_mean_minutes");
  if (!minutes.ok()) return minutes.error();
  const auto found = step_of(row, inputs);
  if (!found.ok()) return found.error();
  const auto& [run, step] = *found;
  const TrainingTime time = composed({}, {run.batch, {run.samples, run.samples, run.samples}},
                                     {step.step_s * 1e9, step.low_s * 1e9, step.high_s * 1e9}, {});
  const RowPrediction all{time.total_ns.typical * 1e-9, time.total_ns.low * 1e-9,
                          time.total_ns.high * 1e-9};
  TablePoint point = time_point(i, "olympic_mean_minutes", all, *minutes * 60);
  point.group = row.text("accelerator");
  return point;
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  TableResult epochs;
  epochs.name = table.id;
  epochs.unit = "s";
  TableResult runs;
  runs.name = table.id + ".time_to_train";
  runs.unit = "s";
  for (std::size_t i = 0; i < table.size(); ++i) {
    const TruthRow row = table.row(i);
    if (row.text("benchmark") == "bert") {
      runs.add(i, run_point(row, i, inputs));
    } else {
      epochs.add(i, epoch_point(row, i, inputs));
    }
  }
  epochs.notes.emplace_back(
      "ResNet-50 (MXNet) runs with the framework file nvidia_bert_2021 (PyTorch, of NVIDIA's "
      "BERT): there is none of its own; how many epochs a batch needs is not in the table");
  epochs.notes.emplace_back("input and evaluation take no time");
  runs.notes.emplace_back(
      "steps to the samples that the log counts; evaluations and the start are not in the table "
      "and take no time");
  runs.notes.emplace_back(
      "all 512 tokens of a sequence are computed, padding too, which these runs left out");
  return std::vector{std::move(epochs), std::move(runs)};
}

constexpr std::array<std::string_view, 1> names = {"mlperf_training_*"};

constexpr TableReaderInfo info = {
    "mlperf_training", "time to train and epochs of NVIDIA's MLPerf Training submissions", names,
    read};

}  // namespace
}  // namespace foretrace::driver::table_readers::mlperf_training_parts

namespace foretrace::driver::table_readers {
extern const TableReaderInfo mlperf_training;
constinit const TableReaderInfo mlperf_training = mlperf_training_parts::info;
}  // namespace foretrace::driver::table_readers
