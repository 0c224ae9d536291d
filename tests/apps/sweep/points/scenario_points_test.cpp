#include "apps/sweep/points/scenario_points.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "apps/plans/plan_estimates.h"
#include "apps/sweep/points/evaluate.h"
#include "apps/sweep/points/judge.h"
#include "models/jobs/program/estimate.h"
#include "tests/configs.h"

namespace foretrace::sweeping {
namespace {

Sweep plans(const std::string& axes, const std::string& constraints = "") {
  auto sweep = parse_sweep(R"({"schema": "foretrace.sweep/1", "scenario": {
      "schema": "foretrace.scenario/1", "workload": {"model": "mixtral_8x7b", "sequence": 4096},
      "cluster": "selene", "framework": "megatron_core", "precision": "bf16",
      "parallelism": {"data": 2, "tensor": 1}, "batch": {"global": 64, "micro": 1}},
      "axes": [)" + axes + R"(], "constraints": [)" +
                               constraints + "]}",
                           "test.json", "");
  REQUIRE_MESSAGE(sweep.ok(), (sweep.ok() ? "" : sweep.error().message));
  return std::move(*sweep);
}

/// Every point by its document, and from its axes: the same reasons, and the same figures.
void check_points(const Sweep& sweep, bool are_independent) {
  const CataloguePtr& catalogue = test::shipped();
  ScenarioParts known;
  CHECK((AxisEffects::of(sweep, *catalogue, known) != nullptr) == are_independent);
  ScenarioPoints points(sweep, *catalogue);
  PlanEstimates estimates;
  std::vector<double> where(sweep.axes().size());
  std::size_t computed = 0;
  for (std::uint64_t point = 0; point < sweep.space.size(); ++point) {
    CAPTURE(point);
    sweep.space.at(point, where);
    auto read = read_point(sweep, *catalogue, sweep.document_at(where), known);
    REQUIRE(read.ok());
    const auto expected = complete_scenario(std::move(*read));
    const auto got = points.at(where);
    REQUIRE(got.ok() == expected.ok());
    if (!got.ok()) {
      CHECK(got.error().message == expected.error().message);
      continue;
    }
    ++computed;
    const Estimate one = *estimates.of((*got)->job);
    const Estimate other = *estimate(expected->job);
    CHECK(one.step_ns == other.step_ns);
    CHECK(one.breakdown.total() == other.breakdown.total());
    CHECK(points.amounts((*got)->job) == amounts_of(expected->job));
    REQUIRE(one.memory.size() == other.memory.size());
    for (std::size_t i = 0; i < one.memory.size(); ++i) {
      CHECK(one.memory[i].total() == other.memory[i].total());
    }
  }
  CHECK(computed > 0);
}

constexpr const char* grid_axes =
    R"({"pointer": "/parallelism/tensor", "values": [1, 2, 4, 7]},
       {"pointer": "/parallelism/expert", "values": [1, 2]},
       {"pointer": "/parallelism/pipeline", "values": [1, 2]})";

}  // namespace

TEST_CASE("sweep: a plan put together from its axes is the plan of its document") {
  check_points(plans(std::string(grid_axes) + R"(,
      {"pointer": "/parallelism/sharding", "values": ["none", "optimizer", "parameters"]},
      {"pointer": "/batch/micro", "values": [1, 3, 4]},
      {"pointer": "/framework", "values": ["megatron_core", "torchtitan"]},
      {"pointer": "/workload/model", "values": ["mixtral_8x7b", "llama3_8b"]},
      {"pointer": "/precision", "values": ["bf16", "fp32"]},
      {"pointer": "/recompute", "values": ["none", "full"]})"),
               true);
}

TEST_CASE("sweep: layers of each stage, passes and keys are axes as any other") {
  check_points(plans(R"({"pointer": "/parallelism/pipeline", "values": [2]},
      {"pointer": "/parallelism/stages", "values": [[{"layers": 16}, {"layers": 16}],
                                                    [{"layers": 4}, {"layers": 28}]]},
      {"pointer": "/batch/micro", "values": [1, 2]})"),
               true);
  check_points(plans(R"({"pointer": "/workload/pass", "values": ["training", "prefill", "decode"]},
      {"pointer": "/workload/context", "values": [128, 8192]})"),
               true);
}

TEST_CASE("sweep: axes reach into a model that stands in the scenario") {
  const auto sweep = [](const std::string& axes) {
    auto read = parse_sweep(R"({"schema": "foretrace.sweep/1", "scenario": {
        "schema": "foretrace.scenario/1", "workload": {"sequence": 128, "pass": "prefill",
          "model": {"family": "transformer", "layers": 4, "hidden": 256, "heads": 4, "ffn": 1024,
                    "vocabulary": 1000}},
        "accelerator": "t4", "framework": "fastertransformer_2022", "precision": "fp16",
        "batch": {"global": 8, "micro": 8}}, "axes": [)" +
                                axes + "]}",
                            "test.json", "");
    REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
    return std::move(*read);
  };
  const std::string layers = R"({"pointer": "/workload/model/layers", "values": [2, 4, 8]})";
  const std::string precision = R"({"pointer": "/precision", "values": ["fp16", "fp32"]})";
  check_points(sweep(layers + ", " + precision), true);
  // Both change the model: no part that one axis alone changes.
  check_points(sweep(layers + R"(, {"pointer": "/workload/model/ffn", "values": [512, 1024]})"),
               false);
  // Values that only fit together move together, and are tried together.
  const auto zipped = prepare(sweep(R"({"zip": [
      {"pointer": "/workload/model/hidden", "values": [256, 384]},
      {"pointer": "/workload/model/heads", "values": [4, 6]}]})"),
                              test::shipped());
  CHECK_MESSAGE(zipped.ok(), (zipped.ok() ? "" : zipped.error().message));
  const auto wrong =
      prepare(sweep(R"({"pointer": "/workload/model/heads", "values": [4, 5]})"), test::shipped());
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message ==
        "test.json: axis 'heads', value '5': scenario: /workload/model/heads: got 5, expected a "
        "divisor of hidden, which is 256, or head_size beside it");
}

TEST_CASE(
    "sweep: axes that take members away are read as documents, nested ones by their effects") {
  check_points(plans(std::string(grid_axes) + R"(,
      {"pointer": "/workload/sequence", "values": [2048, 4096]},
      {"pointer": "/workload/context", "values": [null, 1024]})"),
               false);
  check_points(plans(std::string(grid_axes) + R"(,
      {"pointer": "/workload", "values": [{"model": "mixtral_8x7b", "sequence": 4096}, {"model": "llama3_8b", "sequence": 2048}]},
      {"name": "length", "pointer": "/workload/sequence", "values": [1024, 4096]})"),
               true);
}

TEST_CASE("sweep: a step of months is a reason of its point, as it is a mistake of its scenario") {
  const CataloguePtr& catalogue = test::shipped();
  const Sweep sweep = plans(R"({"pointer": "/batch/global", "values": [64, 16384, 163840000]},
                               {"pointer": "/batch/micro", "values": [1, 5000]},
                               {"pointer": "/recompute", "values": ["none", "full"]})");
  check_points(sweep, true);
  ScenarioPoints points(sweep, *catalogue);
  const auto months = points.at(std::vector<double>{2, 1, 0});
  REQUIRE_FALSE(months.ok());
  CHECK(months.error().message.find("/batch/global: got a step of ") == 0);
  CHECK(points.at(std::vector<double>{0, 0, 0}).ok());
}

TEST_CASE("sweep: what a constraint cuts is exactly what it does not want, point by point") {
  const Sweep sweep =
      plans(std::string(grid_axes) + R"(,
      {"name": "a", "pointer": "/batch/micro", "values": [1, 2, 4]},
      {"name": "b", "pointer": "/recompute", "values": ["none", "full"]})",
            R"("4 % (tensor - 1) == 0", "tensor * pipeline <= 4", "a != 2 || b == 'full'",
                               "pipeline == 1 || a > 1")");
  Judge judge(sweep);
  std::vector<double> where(sweep.axes().size());
  std::string reason;
  std::uint64_t cut_to = 0;
  for (std::uint64_t point = 0; point < sweep.space.size(); ++point) {
    CAPTURE(point);
    sweep.space.at(point, where);
    const bool is_wanted = judge.is_wanted(where, reason);
    if (point < cut_to) {
      CHECK_FALSE(is_wanted);
      CHECK(reason.empty());
      continue;
    }
    const std::uint64_t cut = judge.unwanted_from(point, where, reason);
    CHECK((cut == 0) == is_wanted);
    cut_to = point + cut;
  }
}

TEST_CASE("sweep: an execution file stands beside the sweep that names it") {
  const auto sweep = parse_sweep(R"({"schema": "foretrace.sweep/1", "scenario": {
      "schema": "foretrace.scenario/1", "workload": {"model": "small_gpt.json"},
      "cluster": "selene", "framework": "megatron_2022", "execution": "execution.json"},
      "axes": [{"pointer": "/framework", "values": ["megatron_2022"]}]})",
                                 "test.json", "tests/fixtures/calculon");
  REQUIRE_MESSAGE(sweep.ok(), (sweep.ok() ? "" : sweep.error().message));
  ScenarioParts known;
  auto read =
      read_point(*sweep, *test::shipped(), sweep->document_at(std::vector<double>{0.0}), known);
  CHECK_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
}

TEST_CASE("sweep: a scenario's file names files beside itself, an axis beside the sweep") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "foretrace_sweep_names";
  fs::remove_all(folder);
  fs::create_directories(folder / "sub");
  const CataloguePtr& catalogue = test::shipped();
  const auto clusters = fs::path(catalogue->directory()) / "clusters";
  fs::copy_file(clusters / "dgx_a100.json", folder / "sub" / "own.json");
  fs::copy_file(clusters / "dgx_h100.json", folder / "other.json");
  const std::string scenario = (folder / "sub" / "scenario.json").string();
  std::ofstream(scenario) << R"({"schema": "foretrace.scenario/1",
      "workload": {"model": "gpt2_small"}, "cluster": "own.json", "framework": "megatron_core",
      "batch": {"global": 1}})";
  const auto sweep = parse_sweep(R"({"schema": "foretrace.sweep/1",
      "scenario": "sub/scenario.json",
      "axes": [{"pointer": "/batch/global", "values": [1]},
               {"pointer": "/batch/micro", "values": [1]}]})",
                                 "test.json", folder.string());
  REQUIRE_MESSAGE(sweep.ok(), (sweep.ok() ? "" : sweep.error().message));
  ScenarioParts known;
  const std::vector<double> first{0, 0};
  const auto swept = read_point(*sweep, *catalogue, sweep->document_at(first), known);
  REQUIRE_MESSAGE(swept.ok(), (swept.ok() ? "" : swept.error().message));
  const auto simulated = read_scenario(*catalogue, scenario);
  REQUIRE_MESSAGE(simulated.ok(), (simulated.ok() ? "" : simulated.error().message));
  CHECK(swept->cluster->accelerator.name == simulated->cluster->accelerator.name);
  const auto axis = parse_sweep(R"({"schema": "foretrace.sweep/1",
      "scenario": "sub/scenario.json",
      "axes": [{"pointer": "/cluster", "values": ["other.json"]}]})",
                                "test.json", folder.string());
  REQUIRE_MESSAGE(axis.ok(), (axis.ok() ? "" : axis.error().message));
  const auto other =
      read_point(*axis, *catalogue, axis->document_at(std::vector<double>{0}), known);
  REQUIRE_MESSAGE(other.ok(), (other.ok() ? "" : other.error().message));
  CHECK(other->cluster->accelerator.name != simulated->cluster->accelerator.name);
  fs::remove_all(folder);
}

}  // namespace foretrace::sweeping
