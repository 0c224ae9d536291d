#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "apps/questions/sharing/shared_device.h"
#include "models/hardware/catalogue/accelerator.h"
#include "tests/configs.h"
#include "tests/validation/validate_tables.h"

using foretrace::errors_of;
using foretrace::rank_correlation;
using foretrace::TablePoint;
using foretrace::TableResult;
using foretrace::TablesReport;
using foretrace::validation::validate_tables;

namespace {

namespace fs = std::filesystem;

const std::string validation = FORETRACE_SHARED_DIR "/validation";

const TablesReport& shared_report() {
  static const TablesReport report = [] {
    auto found = validate_tables(*foretrace::test::shipped(), {validation, {}, ""});
    REQUIRE_MESSAGE(found.ok(), found.error().message);
    return std::move(*found);
  }();
  return report;
}

const TableResult& result(const std::string& name) {
  const auto& tables = shared_report().tables;
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const TableResult& table) { return table.name == name; });
  REQUIRE_MESSAGE(found != tables.end(), name);
  return *found;
}

double mean_error(const std::string& name) {
  return errors_of(result(name).points, result(name).is_share).mean;
}

std::string written(const std::string& name, const std::string& text) {
  std::string folder = (fs::temp_directory_path() / "foretrace_tables_test").string();
  fs::create_directories(folder);
  std::ofstream(folder + "/" + name, std::ios::binary) << text;
  return folder;
}

}  // namespace

TEST_CASE("tables: errors are those of their definitions") {
  // predicted / measured - 1: +10 %, -20 %
  const std::vector<TablePoint> points = {{0, "x", 11, 9, 12, 10}, {1, "x", 8, 7, 9, 10}};
  const auto errors = errors_of(points, false);
  CHECK(errors.mean == doctest::Approx(0.15));
  CHECK(errors.largest == doctest::Approx(0.2));
  CHECK(errors.bias == doctest::Approx(-0.05));
  CHECK(errors.covered == doctest::Approx(0.5));
  CHECK(errors_of(points, true).mean == doctest::Approx(1.5));
  CHECK(rank_correlation(std::vector<double>{1, 2, 3}, std::vector<double>{2, 4, 9}) ==
        doctest::Approx(1));
  // Of the three pairs two agree and one does not.
  CHECK(rank_correlation(std::vector<double>{1, 2, 3}, std::vector<double>{2, 9, 4}) ==
        doctest::Approx(1. / 3));
}

TEST_CASE("tables: damaged and unknown ones are told, the others go on") {
  fs::remove_all(fs::temp_directory_path() / "foretrace_tables_test");
  written("a.json", "{\"schema\": \"foretrace-truth/1\", \"id\": ");
  written(
      "b.json",
      R"({"schema": "foretrace-truth/1", "id": "something_else", "columns": ["a"], "rows": [[1]]})");
  written(
      "c.json",
      R"({"schema": "foretrace-truth/1", "id": "short_rows", "columns": ["a", "b"], "rows": [[1]]})");
  const std::string folder = written(
      "d.json",
      R"({"schema": "foretrace-truth/1", "id": "vtrain_multi_node", "columns": ["hidden", "iter_ms"], "rows": [[1024, 5.0]]})");
  const auto report = validate_tables(*foretrace::test::shipped(), {folder, {}, ""});
  REQUIRE(report.ok());
  CHECK(report->broken.size() == 2);
  CHECK(report->unknown == std::vector<std::string>{"something_else"});
  REQUIRE(report->tables.size() == 1);
  REQUIRE(report->tables.front().skipped.size() == 1);
  CHECK(report->tables.front().skipped.front().reason ==
        "accelerator: got nothing, expected one of A100-80GB");
  const auto missing =
      validate_tables(*foretrace::test::shipped(), {folder, {"vtrain_multi_nod"}, ""});
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().message.find("did you mean 'vtrain_multi_node'?") != std::string::npos);
  CHECK_FALSE(validate_tables(*foretrace::test::shipped(), {folder + "/none", {}, ""}).ok());
  fs::remove_all(folder);
}

TEST_CASE("tables: memory formulas of Korthikanti are met exactly") {
  if (!fs::is_directory(validation)) {
    MESSAGE("skipped: no tables at " << validation);
    return;
  }
  // Parameters include the norms and biases that the paper leaves out: 0.1 %.
  CHECK(mean_error("korthikanti_recompute.memory_gib") < 0.001);
  CHECK(errors_of(result("korthikanti_recompute.memory_gib").points, false).largest < 0.0015);
  CHECK(mean_error("korthikanti_recompute.activation_pct") < 0.15);
}

TEST_CASE("tables: published training steps are met as closely as the goals ask") {
  if (!fs::is_directory(validation)) {
    MESSAGE("skipped: no tables at " << validation);
    return;
  }
  CHECK(mean_error("korthikanti_recompute") < 0.02);
  CHECK(mean_error("megatron_sc21_weak_scaling") < 0.04);
  CHECK(mean_error("megatron_sc21_ptdp_vs_zero3") < 0.08);
  CHECK(mean_error("vtrain_multi_node") < 0.07);
  CHECK(mean_error("vtrain_single_node") < 0.08);
  CHECK(mean_error("dgxc_training_scaling") < 0.10);
  CHECK(errors_of(result("dgxc_training_scaling").points, false).rank_correlation > 0.8);
  CHECK(mean_error("training_scale_megascale") < 0.10);
  CHECK(mean_error("nemo_h100_training") < 0.12);
  CHECK(mean_error("torchtitan_llama31_h100.memory_gib") < 0.04);
  CHECK(mean_error("mosaicml_mpt_fsdp") < 0.075);
  CHECK(mean_error("torchtitan_llama31_h100") < 0.10);
  CHECK(mean_error("torchtitan_async_tp_h100") < 0.09);
  CHECK(mean_error("single_gpu_models_neusight") < 0.08);
  CHECK(mean_error("four_gpu_parallel_neusight") < 0.11);
  CHECK(mean_error("moe_alltoall") < 0.25);
}

TEST_CASE("tables: inference, TPUs and networks of other layers are predicted for every row") {
  if (!fs::is_directory(validation)) {
    MESSAGE("skipped: no tables at " << validation);
    return;
  }
  // The bounds are what the tables give, and a little. No constant is from these tables but the
  // host of vLLM, which is from its rows of llm_inference_bench; that of the GPT-3 layer is from
  // the machine whose products the A100's costs were fitted to.
  struct Expected {
    const char* table;
    std::size_t points;
    double error;
  };
  for (const Expected one :
       {Expected{"llm_inference_bench", 491, 0.20}, Expected{"llm_inference_tp_pp", 319, 0.12},
        // One prompt of 152 would need more than the peak: it is set aside.
        Expected{"llm_inference_splitwise", 151, 0.25},
        Expected{"fastertransformer_gptj_a100", 6, 0.10},
        Expected{"alpaserve_pipeline_inference", 6, 0.15},
        Expected{"gpt3_layer_tp4_prefill_a100_llmcompass", 12, 0.10},
        Expected{"maxtext_tpu_mfu", 30, 0.14}, Expected{"mlperf_training_v07", 4, 0.20},
        Expected{"mlperf_training_v07.time_to_train", 4, 0.26},
        Expected{"dp_step_time_t4_pollux", 1620, 0.38}}) {
    CAPTURE(one.table);
    CHECK(result(one.table).points.size() == one.points);
    CHECK(mean_error(one.table) < one.error);
    CHECK(errors_of(result(one.table).points, false).rank_correlation > 0.7);
  }
}

TEST_CASE("tables: ranges hold eight of ten rows, or the table says where they do not") {
  if (!fs::is_directory(validation)) {
    MESSAGE("skipped: no tables at " << validation);
    return;
  }
  // Below 0.8: few rows, or rows of several framework files of which one alone is meant.
  struct Expected {
    const char* table;
    double covered;
  };
  for (const Expected one : {Expected{"korthikanti_recompute", 0.8},
                             Expected{"megatron_sc21_weak_scaling", 0.8},
                             Expected{"megatron_sc21_ptdp_vs_zero3", 0.8},
                             Expected{"vtrain_single_node", 0.8},
                             Expected{"vtrain_multi_node", 0.8},
                             Expected{"mosaicml_mpt_fsdp", 0.8},
                             Expected{"dgxc_training_scaling", 0.8},
                             Expected{"training_scale_megascale", 0.8},
                             Expected{"nemo_h100_training", 0.8},
                             Expected{"single_gpu_models_neusight", 0.8},
                             Expected{"four_gpu_parallel_neusight", 0.8},
                             Expected{"maxtext_tpu_mfu", 0.8},
                             Expected{"torchtitan_llama31_h100", 0.77},
                             Expected{"torchtitan_async_tp_h100", 0.75},
                             Expected{"dp_step_time_t4_pollux", 0.8},
                             Expected{"llm_inference_bench", 0.8},
                             Expected{"llm_inference_splitwise", 0.8},
                             Expected{"llm_inference_tp_pp", 0.8},
                             Expected{"fastertransformer_gptj_a100", 0.8},
                             Expected{"serving_silicon_aggregated.tpot", 0.8},
                             Expected{"serving_requests_rtxpro6000_llama-3.1-8b.tpot", 0.8}}) {
    CAPTURE(one.table);
    CHECK(errors_of(result(one.table).points, false).covered >= one.covered);
  }
}

TEST_CASE("tables: served models write tokens nearly as fast as measured") {
  if (!fs::is_directory(validation)) {
    MESSAGE("skipped: no tables at " << validation);
    return;
  }
  struct Expected {
    const char* table;
    double error;
    double rank;
  };
  // The goals are 20 % and 0.8; an RTX 4090 misses the second: its requests take nearly the same.
  for (const Expected one : {Expected{"serving_silicon_aggregated.tpot", 0.20, 0.8},
                             Expected{"serving_requests_rtxpro6000_llama-3.1-8b.tpot", 0.08, 0.9},
                             Expected{"serving_requests_rtx4090_llama-3.1-8b.tpot", 0.09, 0.35}}) {
    CAPTURE(one.table);
    CHECK(mean_error(one.table) < one.error);
    CHECK(errors_of(result(one.table).points, false).rank_correlation > one.rank);
  }
}

TEST_CASE("tables: new rows of known tables need no code, and odd ones say why they are skipped") {
  const std::string folder = written("rows.json", R"({
    "schema": "foretrace-truth/1", "id": "llm_inference_bench",
    "fixed": {"length": "input length = output length = length",
              "dtype": "16-bit unless the framework says otherwise"},
    "columns": ["hardware", "devices", "framework", "model", "length", "batch", "parallelism", "latency_s"],
    "rows": [
      ["H100", 2, "vLLM", "Llama-2-13b-hf", 300, 7, "Tensor Parallelism", 4.0],
      ["H200", 8, "TensorRT-LLM", "Meta-Llama-3-70B", 64, 3, "Hybrid TP = 4 and PP = 2", 1.0],
      ["A100", 1, "llama.cpp", "Llama-2-7b-hf", 128, 1, "", 1.0],
      ["A100", 1, "vLLM", "Llama-2-70b-hf", 128, 1, "", 1.0],
      ["A100", 1, "vLLM", "Llama-2-7b-hf", 128, 1, "Ring", 1.0],
      ["A100", 1, "vLLM", "Llama-2-7b-hf", 128, 1, "", null]
    ]})");
  const auto report = validate_tables(*foretrace::test::shipped(), {folder, {}, ""});
  REQUIRE(report.ok());
  REQUIRE(report->tables.size() == 1);
  const TableResult& only = report->tables.front();
  CHECK(only.points.size() == 2);
  REQUIRE(only.skipped.size() == 4);
  CHECK(only.skipped[0].reason == "framework: got 'llama.cpp', expected one of TensorRT-LLM, vLLM");
  CHECK(only.skipped[1].reason.find("the weights need") != std::string::npos);
  CHECK(only.skipped[2].reason.starts_with("parallelism: got 'Ring'"));
  CHECK(only.skipped[3].reason == "latency_s: got nothing, expected a positive number");
  fs::remove_all(folder);
}

TEST_CASE("tables: kernels beside NCCL take together what factors by their kind say") {
  if (!fs::is_directory(validation)) {
    MESSAGE("skipped: no tables at " << validation);
    return;
  }
  // Of rows that the factors are not from.
  CHECK(mean_error("overlap_slowdown_echo.total") < 0.04);
  // One factor for all would miss most kernels: large products are as fast as alone.
  CHECK(errors_of(result("overlap_slowdown_echo").points, false).median < 0.1);
  CHECK_FALSE(result("overlap_slowdown_echo.fitted").points.empty());
}

TEST_CASE("tables: pairs on one accelerator are off as far as corun says of itself") {
  if (!fs::is_directory(validation)) {
    MESSAGE("skipped: no tables at " << validation);
    return;
  }
  const auto errors = errors_of(result("colocation_pairs_gavel").points, false);
  CHECK(errors.mean == doctest::Approx(foretrace::pair_mean_error).epsilon(0.02));
  CHECK(errors.rank_correlation == doctest::Approx(foretrace::pair_rank_correlation).epsilon(0.01));
  for (const TablePoint& point : result("colocation_pairs_gavel").points) {
    REQUIRE(point.low == point.predicted);  // no range is claimed
    REQUIRE(point.high == point.predicted);
  }
}

TEST_CASE("tables: schedulers end jobs when their authors' simulators do") {
  if (!fs::is_directory(validation)) {
    MESSAGE("skipped: no tables at " << validation);
    return;
  }
  const auto largest = [](const std::string& name) {
    return errors_of(result(name).points, result(name).is_share).largest;
  };
  CHECK(result("sched_tiresias_60job").points.size() == 300);
  CHECK(largest("sched_tiresias_60job") < 0.005);
  CHECK(mean_error("sched_pollux_jobs") < 0.01);
  CHECK(largest("sched_shockwave_results.canonical.avg_jct_s") < 0.015);
  CHECK(largest("sched_shockwave_results.canonical.makespan_s") < 0.015);
  CHECK(largest("sched_shockwave_results.cluster.avg_jct_s") < 0.09);
  CHECK(errors_of(result("sched_shockwave_results.cluster.makespan_s").points, false)
            .rank_correlation == doctest::Approx(1));
  CHECK(largest("sched_fgd_allocation") < 1);  // a point
  CHECK(shared_report().left_out == std::vector<std::string>{"sched_gavel_policy_curves"});
}

TEST_CASE("tables: a scheduler's table without those that it needs says which") {
  const std::string folder = written(
      "jobs.json",
      R"({"schema": "foretrace-truth/1", "id": "sched_pollux_jobs", "columns": ["job"], "rows": [[1]]})");
  const auto report = validate_tables(*foretrace::test::shipped(), {folder, {}, ""});
  REQUIRE(report.ok());
  REQUIRE(report->broken.size() == 1);
  CHECK(report->broken.front().find("it needs the table sched_pollux_iter_time") !=
        std::string::npos);
  fs::remove_all(folder);
}
