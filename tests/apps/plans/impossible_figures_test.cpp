// Small valid inputs whose figures were impossible: below 0, or more than there can be.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "apps/extras/frames/streams.h"
#include "apps/plans/plan_search.h"
#include "models/jobs/figures/scenario_answer.h"
#include "tests/configs.h"

namespace foretrace {
namespace {

std::string fixture(const std::string& name) {
  return FORETRACE_SOURCE_DIR "/tests/fixtures/impossible/" + name;
}

Scenario scenario_of(const std::string& name) {
  auto scenario = read_scenario(*test::shipped(), fixture(name));
  REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
  return *std::move(scenario);
}

ScenarioAnswer answer_of(const Scenario& scenario) {
  auto answer = answer_scenario(scenario);
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  return *std::move(answer);
}

}  // namespace

TEST_CASE("impossible figures: tables of a pipeline in one node are added up inside it") {
  Scenario scenario = scenario_of("tied_one_node.json");
  const std::int64_t step_ns = answer_of(scenario).step_ns;
  Cluster faster = *scenario.cluster;
  faster.network.nic_bandwidth *= 100;
  scenario.job.cluster = &faster;
  CHECK(answer_of(scenario).step_ns == step_ns);
}

TEST_CASE("impossible figures: a pipeline on nodes without a network takes a time") {
  const ScenarioAnswer answer = answer_of(scenario_of("negative_step.json"));
  CHECK(answer.analytic.step_ns > 0);
  CHECK(answer.range.low_ns > 0);
  CHECK(answer.range.high_ns >= answer.range.low_ns);
  CHECK(answer.analytic.step_ns ==
        doctest::Approx(static_cast<double>(answer.step_ns)).epsilon(0.05));
}

TEST_CASE("impossible figures: more bytes than whole numbers hold are one line of error") {
  const auto answer = answer_scenario(scenario_of("memory_overflow.json"));
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().message.find("memory_overflow.json: ") != std::string::npos);
  CHECK(answer.error().message.find("bytes on a rank, expected at most") != std::string::npos);
}

TEST_CASE("impossible figures: a machine that hardly computes is one line of error") {
  const auto answer = answer_scenario(scenario_of("tiny_rates_step.json"));
  if (!answer.ok()) {
    CHECK(answer.error().message.find("expected") != std::string::npos);
    return;
  }
  CHECK(answer->analytic.breakdown.bubble >= 0);
  for (const double part : answer->analytic.breakdown.computed) CHECK(part >= 0);
}

TEST_CASE("impossible figures: no plan waits for less than nothing") {
  auto model = find_model(*test::shipped(), fixture("negative_bubble_hf.json"));
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  for (const char* const name : {"selene", "dgx_h100", "aws_p3"}) {
    PlanQuestion question;
    Scenario& scenario = question.scenario;
    scenario.model = std::make_shared<const ModelSpec>(*model);
    scenario.cluster = std::make_shared<const Cluster>(*find_cluster(*test::shipped(), name));
    scenario.framework =
        std::make_shared<const Framework>(*find_framework(*test::shipped(), "megatron_core"));
    scenario.job.precisions = *precisions_of("fp16");
    scenario.job.length = scenario.job.keys = model->transformer.positions;
    question.gpus = 8;
    question.global_batch = 4096;
    question.keep = 100;
    const auto plans = search_plans(question);
    REQUIRE_MESSAGE(plans.ok(), plans.error().message);
    REQUIRE_FALSE(plans->best.empty());
    for (const PlanChoice& choice : plans->best) {
      CHECK(choice.breakdown.bubble >= 0);
      CHECK(choice.breakdown.total() ==
            doctest::Approx(static_cast<double>(choice.step_ns)).epsilon(1e-9));
    }
    for (const LosingGrid& grid : plans->losing) CHECK(grid.choice.breakdown.bubble >= 0);
  }
}

TEST_CASE("impossible figures: a frame that needs more energy than it may has no score for it") {
  const auto streams = read_streams(*test::shipped(), fixture("negative_score.json"));
  REQUIRE_MESSAGE(streams.ok(), streams.error().message);
  const auto answer = run_streams(*streams);
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  for (const auto& scenario : answer->scores) {
    CHECK(scenario.score >= 0);
    CHECK(scenario.score <= 100);
    for (const auto& one : scenario.models) CHECK(one.energy >= 0);
  }
}

TEST_CASE("impossible figures: what masks and windows hide is neither computed nor kept") {
  const auto of_pass = [](const std::string& pass) {
    const std::string text =
        R"({"schema": "foretrace.scenario/1", "cluster": "dgx_h200", "framework": "serving",
            "workload": {"model": "gpt_oss_120b", "sequence": 131072, "context": 131072,
                         "pass": ")" +
        pass + R"("}, "precision": "bf16", "parallelism": {"tensor": 8},
            "batch": {"global": 1, "micro": 1}})";
    auto scenario = parse_scenario(*test::shipped(), text, "windows.json");
    REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
    return *std::move(scenario);
  };
  // 18 layers see 131072 tokens, half of them on average, 18 see 128: the operations of the first
  // are 18 x 4 x s^2 / 2 x 4096, products of 5.1e9 parameters come on top.
  const ScenarioAnswer prompt = answer_of(of_pass("prefill"));
  CHECK(prompt.model_flops == doctest::Approx(3.9e15).epsilon(0.05));
  REQUIRE(prompt.figures.flops_utilization.has_value());
  CHECK(*prompt.figures.flops_utilization < 1);
  // A rank keeps one of eight heads of 64: 256 bytes for keys and values of a position.
  const ScenarioAnswer token = answer_of(of_pass("decode"));
  CHECK(token.fullest().activations == doctest::Approx(18.0 * (131072 + 128) * 256));
}

TEST_CASE("impossible figures: fp32 attention on faster units keeps the utilization below 1") {
  const auto scenario = parse_scenario(
      *test::shipped(),
      R"({"schema": "foretrace.scenario/1", "cluster": "dgx_a100", "framework": "serving",
          "workload": {"model": "bert_large", "sequence": 65536, "pass": "prefill"},
          "precision": "fp32", "batch": {"global": 1}})",
      "attention.json");
  REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
  const ScenarioAnswer answer = answer_of(*scenario);
  // Against the peak of fp32 products alone it is above 1.
  const double seconds = static_cast<double>(answer.step_ns) * 1e-9;
  CHECK(answer.model_flops / seconds > peak_flops(scenario->job));
  REQUIRE(answer.figures.flops_utilization.has_value());
  CHECK(*answer.figures.flops_utilization > 0.3);
  CHECK(*answer.figures.flops_utilization < 1);
}

TEST_CASE("inference: sharded weights take the room that they take in training") {
  const auto weights_of = [](const std::string& pass, const std::string& sharding) {
    const auto scenario = parse_scenario(
        *test::shipped(),
        R"({"schema": "foretrace.scenario/1", "workload": {"model": "llama3_70b", "pass": ")" +
            pass + R"(", "sequence": 2048}, "cluster": "dgx_h100", "framework": "torchtitan",
            "precision": "bf16", "parallelism": {"data": 8, "sharding": ")" +
            sharding + R"("}, "batch": {"global": 8, "micro": 1}})",
        "s.json");
    REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
    return answer_of(*scenario).fullest().weights;
  };
  const double whole = weights_of("prefill", "none");
  CHECK(weights_of("prefill", "parameters") == doctest::Approx(whole / 8));
  CHECK(weights_of("prefill", "parameters") == weights_of("training", "parameters"));
}

}  // namespace foretrace
