// Measured inference: batches that start together on a tensor or pipeline group
// (LLM-Inference-Bench of ALCF), prompts and tokens of Splitwise, FasterTransformer, and pipelines
// of AlpaServe.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "apps/driver/scenario/generation.h"
#include "tests/validation/tables/row_prediction.h"

namespace foretrace::driver::table_readers::inference_parts {
namespace {

/// A served model as a row describes it.
struct ServedRow {
  std::string model;
  std::string cluster;
  std::string framework;
  double tensor = 1;
  double pipeline = 1;
  GenerationRequest request;
};

std::string in_capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

Result<Scenario> served_scenario(const ServedRow& row, TableInputs& inputs) {
  if (row.cluster.empty()) return Error{ErrorCode::not_found, "no cluster of this accelerator"};
  if (row.framework.empty()) return Error{ErrorCode::not_found, "no description of this framework"};
  auto scenario = scenario_on(inputs, row.cluster, row.framework);
  if (!scenario.ok()) return scenario;
  auto model = inputs.model(row.model);
  if (!model.ok()) return std::move(model).error();
  scenario->model = *std::move(model);
  scenario->job.precisions = {Precision::fp16, false};
  ParallelPlan& plan = scenario->job.plan;
  plan.tensor = static_cast<std::uint32_t>(row.tensor);
  plan.pipeline = static_cast<std::uint32_t>(row.pipeline);
  // Servers divide every expert, so that no token travels.
  if (scenario->model->transformer.experts.count > 0) plan.expert_tensor = plan.tensor;
  return scenario;
}

TablePoint seconds_point(std::size_t row, std::string column, const RangedSeconds& time,
                         double measured_s) {
  return {row, std::move(column), time.typical, time.low, time.high, measured_s};
}

/// "Tensor Parallelism", "PP", "Hybrid TP = 2 and PP = 2": which group the devices make.
Status read_groups(const std::string& name, double devices, ServedRow& run) {
  const auto has = [&name](std::string_view one, std::string_view other) {
    return name.find(one) != std::string::npos || name.find(other) != std::string::npos;
  };
  const bool tensor = name.empty() || has("Tensor", "TP");
  const bool pipeline = has("Pipeline", "PP");
  if (tensor && pipeline) {
    const auto digit = name.find_first_of("0123456789");
    const double size = digit == std::string::npos ? 0 : name[digit] - '0';
    if (!(size >= 1)) {
      return Error{ErrorCode::bad_format, fmt::format("no size of groups in '{}'", name)};
    }
    const auto stages = copies_of(devices, size);
    if (!stages.ok()) return stages.error();
    run.tensor = size;
    run.pipeline = *stages;
    return ok_status();
  }
  if (has("Expert", "EP")) {
    return Error{ErrorCode::unsupported, "experts on different devices without data ranks"};
  }
  if (!tensor && !pipeline) {
    return Error{ErrorCode::bad_format, fmt::format("got {}, expected a kind of groups", name)};
  }
  (tensor ? run.tensor : run.pipeline) = devices;
  return ok_status();
}

// Polaris has nodes of four A100 with 40 GB (Chitty-Venkata et al., 2024; which of ALCF's machines
// the table is from is from memory: its waves of sequences fit 40 GB), larger groups run on
// DGX A100 of the same part.
std::string bench_cluster(const std::string& hardware, double devices) {
  if (hardware == "A100") return devices > 4 ? "dgx_a100_40gb" : "polaris";
  return cluster_of(in_capitals(hardware));
}

Result<TablePoint> bench_point(const TruthRow& row, std::size_t i, TableInputs& inputs) {
  ServedRow run;
  RowNumbers numbers(row);
  const double devices = numbers.count("devices", most_ranks);
  run.model = row.text("model");
  run.cluster = bench_cluster(row.text("hardware"), devices);
  const std::string framework = row.text("framework");
  if (framework == "TensorRT-LLM") run.framework = "tensorrt_llm_2024";
  if (framework == "vLLM") run.framework = "vllm_2024";
  if (Status status = read_groups(row.text("parallelism"), devices, run); !status.ok()) {
    return std::move(status).error();
  }
  run.request.sequences = numbers.count("batch", most_sequences);
  run.request.prompt = run.request.output = numbers.count("length", most_tokens);
  const double measured = numbers.measured("latency_s");
  if (!numbers.status().ok()) return numbers.status().error();
  const auto scenario = served_scenario(run, inputs);
  if (!scenario.ok()) return scenario.error();
  const auto time = time_generation(*scenario, run.request);
  if (!time.ok()) return time.error();
  TablePoint one = seconds_point(i, "latency_s", time->total, measured);
  one.group = fmt::format("{}, {}", framework, run.model);
  return one;
}

// A row tells the time of the prompts and that of a token.
Result<std::vector<TablePoint>> split_points(const TruthRow& row, std::size_t i,
                                             TableInputs& inputs) {
  const std::string gpu = row.text("gpu");
  if (gpu.find("pcap") != std::string::npos) {
    return Error{ErrorCode::unsupported, "the table does not say to what power it is capped"};
  }
  ServedRow run;
  run.model = row.text("model");
  run.cluster = cluster_of(in_capitals(gpu));
  run.framework = "vllm_2023";
  RowNumbers numbers(row);
  run.tensor = numbers.count("tp", most_ranks);
  run.request.sequences = numbers.count("batch", most_sequences);
  run.request.prompt = numbers.count("prompt_tokens", most_tokens);
  run.request.output = numbers.count("output_tokens", most_tokens);
  const auto prompt_ms = numbers.optional_measured("prompt_ms");
  const auto token_ms = numbers.optional_measured("token_ms");
  if (!numbers.status().ok()) return numbers.status().error();
  const auto scenario = served_scenario(run, inputs);
  if (!scenario.ok()) return scenario.error();
  const auto time = time_generation(*scenario, run.request);
  if (!time.ok()) return time.error();
  std::vector<TablePoint> found;
  for (const auto& [column, predicted, measured] :
       {std::tuple{"prompt_ms", time->prompt, prompt_ms},
        std::tuple{"token_ms", time->token, token_ms}}) {
    if (!measured.has_value()) continue;
    found.push_back(seconds_point(i, column, predicted, *measured * 1e-3));
    found.back().group = fmt::format("{}, tensor {:.0f}, {}", gpu, run.tensor, column);
  }
  return found;
}

// Prompts of 512 tokens and ten tokens after them on A100 with 40 GB (kipply, Transformer Inference
// Arithmetic, 2022; examples/fastertransformer of llm-analysis).
Result<TablePoint> faster_point(const TruthRow& row, std::size_t i, TableInputs& inputs) {
  ServedRow run;
  run.model = "gptj_13b";
  run.cluster = "dgx_a100_40gb";
  run.framework = "fastertransformer_2022";
  RowNumbers numbers(row);
  run.tensor = numbers.count("gpus_tp", most_ranks);
  run.request.prompt = 512;
  run.request.output = 11;  // the prompt gives the first one
  const double measured = numbers.measured("measured_ms");
  if (!numbers.status().ok()) return numbers.status().error();
  const auto scenario = served_scenario(run, inputs);
  if (!scenario.ok()) return scenario.error();
  const auto time = time_generation(*scenario, run.request);
  if (!time.ok()) return time.error();
  const std::string phase = row.text("phase");
  if (phase != "prefill" && phase != "decode_step" && phase != "total") {
    return Error{ErrorCode::unsupported,
                 fmt::format("got phase {}, expected prefill, decode_step or total", phase)};
  }
  const RangedSeconds& predicted = phase == "prefill"       ? time->prompt
                                   : phase == "decode_step" ? time->token
                                                            : time->total;
  TablePoint point = seconds_point(i, "measured_ms", predicted, measured * 1e-3);
  point.group = phase;
  return point;
}

// Queries of 2,048 tokens (Li et al., AlpaServe, OSDI 2023; from memory), one at a time through all
// stages.
Result<TablePoint> alpa_point(const TruthRow& row, std::size_t i, TableInputs& inputs) {
  ServedRow run;
  run.model = row.text("model");
  run.cluster = "aws_p3";
  run.framework = "alpa_2022";
  RowNumbers numbers(row);
  run.pipeline = numbers.count("pp", most_layers);
  const double batch = numbers.count_or("batch", 1, most_sequences);
  const double measured = numbers.measured("sum_stage_s");
  if (!numbers.status().ok()) return numbers.status().error();
  auto scenario = served_scenario(run, inputs);
  if (!scenario.ok()) return scenario.error();
  Job& job = scenario->job;
  job.pass = Pass::prefill;
  job.length = job.keys = 2048;
  job.global_batch = job.micro_batch = batch;
  auto complete = complete_scenario(*std::move(scenario));
  if (!complete.ok()) return complete.error();
  const auto prediction = predict_row(*complete);
  if (!prediction.ok()) return prediction.error();
  TablePoint point = time_point(i, "sum_stage_s", *prediction, measured);
  point.group = run.model;
  return point;
}

Result<std::vector<TableResult>> read(const TruthTable& table, TableInputs& inputs) {
  TableResult result;
  result.name = table.id;
  result.unit = "s";
  const bool splitwise = table.id.find("splitwise") != std::string::npos;
  const bool alpa = table.id.starts_with("alpaserve");
  const auto point_of = alpa                                        ? alpa_point
                        : table.id.starts_with("fastertransformer") ? faster_point
                                                                    : bench_point;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!splitwise) {
      result.add(i, point_of(table.row(i), i, inputs));
      continue;
    }
    const auto points = split_points(table.row(i), i, inputs);
    if (points.ok()) {
      result.points.insert(result.points.end(), points->begin(), points->end());
    } else {
      result.skipped.push_back({i, points.error().message});
    }
  }
  if (!alpa) {
    result.notes.emplace_back(
        "keys and values may have nine tenths of the memory that weights leave; sequences beyond "
        "that wait until others are complete");
  }
  return std::vector{std::move(result)};
}

constexpr std::array<std::string_view, 3> names = {"llm_inference_*", "fastertransformer_*",
                                                   "alpaserve_*"};

constexpr TableReaderInfo info = {
    "inference", "prompts and tokens of served language models on tensor and pipeline groups",
    names, read};

}  // namespace
}  // namespace foretrace::driver::table_readers::inference_parts

namespace foretrace::driver::table_readers {
extern const TableReaderInfo inference;
constinit const TableReaderInfo inference = inference_parts::info;
}  // namespace foretrace::driver::table_readers
