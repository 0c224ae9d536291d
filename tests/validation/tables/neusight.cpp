// NeuSight's measured transformers in eager fp32 PyTorch: forward alone, forward and backward, and
// four devices with data, tensor or pipeline groups.
#include <array>
#include <memory>

#include <fmt/format.h>

#include "models/jobs/program/estimate.h"
#include "models/jobs/workloads/model_import.h"
#include "tests/validation/tables/row_prediction.h"

namespace foretrace::table_readers::neusight_parts {
namespace {

struct Device {
  std::string_view called;
  std::string_view accelerator;
};
constexpr std::array devices = {Device{"NVIDIA_A100-PCIE-40GB", "a100_pcie_40gb"},
                                Device{"NVIDIA_A100-SXM4-40GB", "a100_sxm_40gb"},
                                Device{"NVIDIA_A100_80GB_PCIe", "a100_pcie_80gb"},
                                Device{"NVIDIA_H100_80GB_HBM3", "h100_sxm"},
                                Device{"NVIDIA_L4", "l4"},
                                Device{"Tesla_V100-PCIE-32GB", "v100_pcie_32gb"},
                                Device{"Tesla_P100-PCIE-16GB", "p100_pcie_16gb"},
                                Device{"Tesla_P4", "p4"},
                                Device{"Tesla_T4", "t4"},
                                Device{"AMD_Instinct_MI100", "mi100"},
                                Device{"AMD_Instinct_MI210", "mi210"},
                                Device{"AMD_Instinct_MI250", "mi250x"}};

/// One device of the row, alone.
Result<std::shared_ptr<const Cluster>> device_of(const std::string& called, TableInputs& inputs) {
  for (const Device& device : devices) {
    if (device.called != called) continue;
    return lone_accelerator(inputs.catalogue(), device.accelerator);
  }
  return Error{ErrorCode::not_found, fmt::format("no accelerator file for {}", called)};
}

/// The sizes that stand beside the table; those of a table of single devices serve another, too.
Result<std::shared_ptr<const ModelSpec>> model_of(const TruthTable& table, TableInputs& inputs,
                                                  const std::string& called) {
  const TruthTable* const beside = inputs.table("single_gpu_models_neusight");
  for (const TruthTable* from : {&table, beside}) {
    const ConfigValue* dims = from == nullptr ? nullptr : from->fixed("model_dims");
    const ConfigValue* own = dims == nullptr ? nullptr : dims->find(called);
    if (own == nullptr) continue;
    if (own->find("num_experts") != nullptr) {
      return Error{ErrorCode::unsupported,
                   "experts of an encoder and decoder are no model of ours"};
    }
    FORETRACE_TRY(auto model, model_from_hugging_face(*own, called));
    return std::make_shared<const ModelSpec>(std::move(model));
  }
  return inputs.model(called);
}

/// The model and the framework as NeuSight times them (neusight/Tracing/trace.py): the forward pass
/// ends with the logits, the loss is computed between both passes; models in training drop out.
std::shared_ptr<const Framework> as_timed(const Framework& framework, bool trains) {
  Framework own = framework;
  own.kernels.loss_forward_bytes = 0;
  own.kernels.drops_out = trains;
  return std::make_shared<const Framework>(std::move(own));
}

/// BERT's inference is AutoModelForSequenceClassification: two classes instead of the vocabulary.
std::shared_ptr<const ModelSpec> classifier(const ModelSpec& model) {
  constexpr double classes = 2;
  ModelSpec own = model;
  own.transformer.vocabulary = classes;
  own.transformer.has_pooler = false;
  return std::make_shared<const ModelSpec>(std::move(own));
}

struct Run {
  double length = 0;
  double batch = 0;
  bool trains = true;
};

Result<Run> run_of(const TruthRow& row, std::string_view batch) {
  RowNumbers numbers(row);
  const double length = numbers.count("seq_len", most_tokens);
  const double sequences = numbers.count(batch, most_sequences);
  FORETRACE_TRY(numbers.status());
  return Run{length, sequences, row.text("mode") == "train"};
}

Result<Scenario> scenario_of_run(const Run& run, Scenario scenario) {
  FORETRACE_TRY(const auto precisions, precisions_of("fp32"));
  Job& job = scenario.job;
  job.precisions = precisions;
  job.length = job.keys = run.length;
  job.global_batch = run.batch;
  job.micro_batch = run.batch / job.plan.data;
  return complete_scenario(std::move(scenario));
}

/// Share of a step that the forward pass is.
Result<double> forward_share(const Job& job) {
  FORETRACE_TRY(const auto program, build_program(job));
  const double forward = program.step.forward.front().total;
  return forward / (forward + program.step.backward.front().total);
}

Result<TablePoint> single_point(const TruthTable& table, std::size_t i, TableInputs& inputs) {
  const TruthRow row = table.row(i);
  FORETRACE_TRY(const auto run, run_of(row, "batch"));
  FORETRACE_TRY(auto scenario, scenario_on(inputs, "single", "eager_fp32"));
  FORETRACE_TRY(scenario.cluster, device_of(row.text("device"), inputs));
  FORETRACE_TRY(scenario.model, model_of(table, inputs, row.text("model")));
  scenario.framework = as_timed(*scenario.framework, run.trains);
  if (!run.trains && !scenario.model->transformer.causal) {
    scenario.model = classifier(*scenario.model);
  }
  FORETRACE_TRY(const auto complete, scenario_of_run(run, std::move(scenario)));
  FORETRACE_TRY(const auto measured, measured_in(row, "e2e_ms"));
  FORETRACE_TRY(auto prediction, predict_row(complete));
  if (!run.trains) {
    FORETRACE_TRY(const auto share, forward_share(complete.job));
    prediction.step_s *= share;
    prediction.low_s *= share;
    prediction.high_s *= share;
  }
  TablePoint point = time_point(i, "e2e_ms", prediction, measured * 1e-3);
  point.group = row.text("device");
  return point;
}

Result<TablePoint> four_point(const TruthTable& table, std::size_t i, TableInputs& inputs) {
  const TruthRow row = table.row(i);
  FORETRACE_TRY(const auto run, run_of(row, "global_batch"));
  const std::string machine = row.text("device");
  const bool is_a100 = machine == "NVIDIA_A100-SXM4-40GB";
  if (!is_a100 && machine != "NVIDIA_H100_80GB_HBM3") {
    return Error{ErrorCode::not_found, fmt::format("no cluster of {}", machine)};
  }
  FORETRACE_TRY(auto scenario,
                scenario_on(inputs, is_a100 ? "dgx_a100_40gb" : "dgx_h100", "eager_fp32"));
  FORETRACE_TRY(scenario.model, model_of(table, inputs, row.text("model")));
  const std::string groups = row.text("parallelism");
  ParallelPlan& plan = scenario.job.plan;
  if (groups == "dp4") {
    plan.data = 4;
  } else if (groups == "tp4") {
    plan.tensor = 4;
  } else if (groups == "pp4_1") {
    plan.pipeline = 4;
  } else {
    return Error{ErrorCode::unsupported, fmt::format("got {}, expected dp4, tp4 or pp4_1", groups)};
  }
  FORETRACE_TRY(const auto complete, scenario_of_run(run, std::move(scenario)));
  FORETRACE_TRY(const auto measured, measured_in(row, "e2e_ms"));
  FORETRACE_TRY(const auto prediction, predict_row(complete));
  return time_point(i, "e2e_ms", prediction, measured * 1e-3);
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  const bool single = table.id == "single_gpu_models_neusight";
  TableResult result;
  result.name = table.id;
  result.unit = "s";
  for (std::size_t i = 0; i < table.size(); ++i) {
    result.add(i, single ? single_point(table, i, inputs) : four_point(table, i, inputs));
  }
  if (single) {
    result.notes.emplace_back(
        "as the table's own program times: the loss is computed between forward and backward; "
        "training drops out; encoders at inference classify sequences");
  }
  return std::vector{std::move(result)};
}

constexpr std::array<std::string_view, 2> names = {"single_gpu_models_neusight",
                                                   "four_gpu_parallel_neusight"};

constexpr TableReaderInfo info = {
    "neusight", "transformers in eager fp32 PyTorch on one and four devices", names, read};

}  // namespace
}  // namespace foretrace::table_readers::neusight_parts

namespace foretrace::table_readers {
extern const TableReaderInfo neusight;
constinit const TableReaderInfo neusight = neusight_parts::info;
}  // namespace foretrace::table_readers
