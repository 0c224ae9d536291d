#include "apps/plans/plan_search.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "apps/plans/plan_request.h"
#include "apps/report/pages/cluster/plan.h"
#include "apps/report/writers.h"
#include "models/jobs/figures/scenario_answer.h"
#include "tests/configs.h"

using namespace foretrace;

namespace {

Scenario scenario_of(const std::string& model, const std::string& cluster) {
  Scenario scenario;
  scenario.model =
      std::make_shared<const ModelSpec>(*find_model(*foretrace::test::shipped(), model));
  scenario.cluster =
      std::make_shared<const Cluster>(*find_cluster(*foretrace::test::shipped(), cluster));
  scenario.framework = std::make_shared<const Framework>(
      *find_framework(*foretrace::test::shipped(), "megatron_core"));
  scenario.job.precisions = *precisions_of("bf16");
  scenario.job.length = scenario.job.keys = scenario.model->transformer.positions;
  return scenario;
}

PlanAnswer plans(const std::string& model, const std::string& cluster, std::uint32_t gpus,
                 double batch) {
  const PlanQuestion question{scenario_of(model, cluster), gpus, batch, 5};
  auto answer = search_plans(question);
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  return *std::move(answer);
}

}  // namespace

TEST_CASE("plan: a device whose memory is not known has room for every plan") {
  Scenario scenario = scenario_of("llama3_8b", "dgx_a100");
  auto cluster = std::make_shared<Cluster>(*scenario.cluster);
  cluster->accelerator.memory_bytes = 0;
  scenario.cluster = cluster;
  const auto answer = search_plans({scenario, 8, 8, 1});
  REQUIRE(answer.ok());
  CHECK(answer->too_large == 0);
  CHECK(answer->best.size() == 1);
}

TEST_CASE("plan: the best plan is what simulating its job from scratch gives") {
  const Scenario scenario = scenario_of("llama3_8b", "dgx_a100");
  const auto answer = search_plans({scenario, 16, 64, 5});
  REQUIRE(answer.ok());
  REQUIRE(answer->best.size() == 5);
  for (const PlanChoice& choice : answer->best) {
    const Job& job = choice.job;
    CAPTURE(plan_text(job));
    CHECK(job.plan.ranks() == 16);
    const auto program = *build_program(job);
    CHECK(estimate(job, program)->step_ns == choice.formula_ns);
    CHECK(estimate(job, program, Passes::by_steps)->step_ns == choice.step_ns);
    CHECK(choice.low_ns <= choice.step_ns);
    CHECK(choice.high_ns >= choice.step_ns);
    CHECK(choice.memory_bytes <= static_cast<double>(scenario.cluster->accelerator.memory_bytes));
  }
}

TEST_CASE("plan: strict fp32 stays below its peak, though fused attention uses TF32 parts") {
  Scenario scenario = scenario_of("llama3_8b", "dgx_a100");
  scenario.job.precisions = *foretrace::precisions_of("fp32");
  const auto answer = search_plans({scenario, 8, 64, 1});
  REQUIRE(answer.ok());
  REQUIRE_FALSE(answer->best.empty());
  CHECK(answer->best.front().figures.flops_utilization.value() > 0.4);
  CHECK(answer->best.front().figures.flops_utilization < 0.9);
}

TEST_CASE("plan: a slow network is simulated before plans are ranked") {
  Scenario scenario = scenario_of("gpt2_xl", "aws_p3");
  scenario.job.precisions = *precisions_of("fp32");
  scenario.job.length = scenario.job.keys = 128;
  const auto answer = search_plans({scenario, 16, 16, 20});
  REQUIRE(answer.ok());
  CHECK(answer->simulated < answer->tried / 2);
  bool has_two_stages = false;
  for (const PlanChoice& choice : answer->best) {
    CHECK(choice.formula_ns <= choice.step_ns);
    CHECK(choice.low_ns < choice.step_ns);
    CHECK(choice.high_ns > choice.step_ns);
    if (choice.job.plan.pipeline != 2 || choice.job.plan.tensor != 1) continue;
    // 24 chunks per stage take 1,422 ms, which a formula that forgets their sends ranks first; one
    // chunk per stage takes 1,229 ms.
    has_two_stages = true;
    CHECK(choice.job.chunks < 24);
    CHECK(choice.step_ns < 1'229'000'000);
  }
  CHECK(has_two_stages);
}

TEST_CASE("plan: every other grid is listed once, slower than the best or too large") {
  const PlanAnswer answer = plans("llama3_8b", "dgx_a100", 16, 64);
  std::set<std::string> grids;
  const auto grid = [](const Job& job) {
    return std::to_string(job.plan.tensor) + "/" + std::to_string(job.plan.pipeline) + "/" +
           std::to_string(job.plan.context);
  };
  for (const PlanChoice& choice : answer.best) CHECK(grids.insert(grid(choice.job)).second);
  for (const LosingGrid& losing : answer.losing) {
    CHECK(grids.insert(grid(losing.choice.job)).second);
    CHECK_FALSE(losing.why.empty());
    if (losing.fits) {
      CHECK(losing.choice.step_ns >= answer.best.back().step_ns);
    } else {
      CHECK(losing.why.find("out of memory") == 0);
    }
  }
  // Tensor 1 to 8, pipeline 1 to 16, 16 devices: 4 + 4 + 4 + 4 - what does not divide.
  CHECK(grids.size() == 5 + 4 + 3 + 2);
}

TEST_CASE("plan: a model that fits nowhere is an answer that says what it lacks") {
  const PlanAnswer answer = plans("gpt3_175b", "dgx_a100", 8, 64);
  CHECK(answer.best.empty());
  CHECK(answer.too_large == answer.tried);
  REQUIRE_FALSE(answer.losing.empty());
  for (const LosingGrid& losing : answer.losing) CHECK_FALSE(losing.fits);
}

TEST_CASE("plan: sizes that no plan has are an error") {
  const auto answer = search_plans({scenario_of("llama3_8b", "dgx_a100"), 1024, 3, 5});
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().message.find("no plan for 1024 devices and 3 sequences") == 0);
  // A head count that few groups divide is not what a batch of one dies of.
  const auto small = search_plans({scenario_of("gpt2_xl", "dgx_h100"), 4096, 1, 5});
  REQUIRE_FALSE(small.ok());
  CHECK(small.error().message.find("have batch: got 1, expected a multiple of the 4096") !=
        std::string::npos);
}

TEST_CASE("plan: what a product has no units for, and batches without end, are refused") {
  for (const auto& [precision, cluster] :
       {std::pair{"bf16", "dgx1_v100"}, std::pair{"fp8", "dgx_a100"}}) {
    Scenario scenario = scenario_of("gpt2_small", cluster);
    scenario.job.precisions = *precisions_of(precision);
    const auto answer = search_plans({scenario, 8, 64, 5});
    REQUIRE_FALSE(answer.ok());
    CHECK(answer.error().message.find("has no units") != std::string::npos);
    CHECK(answer.error().message.find("expected one of fp64, fp32") != std::string::npos);
  }
  const auto endless = search_plans({scenario_of("llama3_8b", "dgx_h100"), 8, 1e9, 5});
  REQUIRE_FALSE(endless.ok());
  CHECK(endless.error().message.find("/batch/global") != std::string::npos);
}

TEST_CASE("plan: an answer owns what its jobs point to, after the question is gone") {
  std::weak_ptr<const Cluster> cluster;
  std::weak_ptr<const Framework> framework;
  const PlanAnswer answer = [&] {
    const Scenario scenario = scenario_of("llama3_8b", "dgx_a100");
    cluster = scenario.cluster;
    framework = scenario.framework;
    return *search_plans({scenario, 16, 64, 5});
  }();
  REQUIRE_FALSE(cluster.expired());
  REQUIRE_FALSE(framework.expired());
  const PlanAnswer copy = answer;  // shares them
  for (const PlanAnswer* const one : {&answer, &copy}) {
    std::set<const TransformerSpec*> models;
    for (const auto& model : one->models) models.insert(&model->transformer);
    std::vector<const Job*> jobs;
    for (const PlanChoice& choice : one->best) jobs.push_back(&choice.job);
    for (const LosingGrid& losing : one->losing) jobs.push_back(&losing.choice.job);
    REQUIRE_FALSE(jobs.empty());
    for (const Job* const job : jobs) {
      CHECK(job->cluster == cluster.lock().get());
      CHECK(job->framework == framework.lock().get());
      CHECK(models.contains(job->model));
    }
  }
}

TEST_CASE("plan: experts are spread over devices of a mixture of experts") {
  const PlanAnswer answer = plans("mixtral_8x7b", "dgx_h100", 64, 512);
  REQUIRE_FALSE(answer.best.empty());
  bool spreads_experts = false;
  for (const PlanChoice& choice : answer.best) {
    spreads_experts = spreads_experts || choice.job.plan.expert > 1;
  }
  CHECK(spreads_experts);
}

TEST_CASE("plan: the usual batch is 4 Mi tokens in equal shares") {
  const TransformerSpec text;
  CHECK(usual_batch(text, 8192, 64) == 512);
  CHECK(usual_batch(text, 8192, 1000) == 1000);
  CHECK(usual_batch(text, 2048, 1000) == 3000);
}

TEST_CASE("plan: a model that takes more positions has no shorter sequence") {
  TransformerSpec model;
  double before = 0;
  for (const double positions : {512., 4096., 8191., 8192., 8193., 16384., 131072., 1e7}) {
    model.positions = positions;
    const double length = usual_length(model);
    CHECK(length >= before);
    CHECK(length <= positions);
    CHECK(length <= 8192);
    before = length;
  }
  CHECK(before == 8192);
}

TEST_CASE("plan: samples of a layered model are no sequences, and a rank takes what has room") {
  const PlanAnswer answer = plans("resnet50", "dgx_h100", 8, 2048);
  REQUIRE_FALSE(answer.best.empty());
  CHECK(usual_batch(*answer.best.front().job.model, 1, 8) == 2048);
  CHECK(answer.best.front().job.micro_batch == 256);
}

TEST_CASE("plans: a length is refused where samples have no tokens") {
  const auto request = [](std::size_t sequence) {
    return PlanRequest{.model = "resnet50",
                       .cluster = "dgx1_v100",
                       .framework = {},
                       .precision = {},
                       .sequence = sequence};
  };
  CHECK(scenario_of(*test::shipped(), request(0)).ok());
  const auto refused = scenario_of(*test::shipped(), request(2048));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message ==
        "sequence: a sample of resnet50 has no tokens, got 2048, expected 1");
}

TEST_CASE("plans: the framework runs on the machine, whoever chooses it") {
  const auto request = [](const std::string& cluster, const std::string& framework) {
    return scenario_of(*test::shipped(), PlanRequest{.model = "mpt_7b",
                                                     .cluster = cluster,
                                                     .framework = framework,
                                                     .precision = {},
                                                     .sequence = 0});
  };
  for (const std::string& cluster : cluster_names(*test::shipped())) {
    CAPTURE(cluster);
    const auto chosen = request(cluster, "");
    REQUIRE_MESSAGE(chosen.ok(), chosen.error().message);
    CHECK(runs_on(*chosen->framework, chosen->cluster->accelerator));
  }
  CHECK(request("tpu_v4_pod", "")->framework->name == "maxtext_tpu");
  CHECK(request("mi300x_x8", "")->framework->name == "torchtitan");
  CHECK(request("selene", "")->framework->name == "megatron_core");
  const auto refused = request("tpu_v4_pod", "megatron_core");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message ==
        "framework: got megatron_core, which runs on cuda, expected one that runs on tpu (Google "
        "TPU v4): maxtext_tpu");
}

TEST_CASE("plans: a framework that nobody measured on the machine says so first") {
  const auto shown = [](const std::string& cluster, const std::string& framework) {
    auto scenario = scenario_of("gpt_22b", cluster);
    scenario.framework =
        std::make_shared<const Framework>(*find_framework(*test::shipped(), framework));
    const std::vector<PlanAnswer> answers = {*search_plans({scenario, 64, 512, 1})};
    return report::json_of(report::plans_page({scenario, answers, {}}));
  };
  const std::string known = shown("selene", "megatron_2021");
  CHECK(known.find("\"is_measured\": true") != std::string::npos);
  const std::string unknown = shown("selene", "megatron_core");
  CHECK(unknown.find("\"is_measured\": false") != std::string::npos);
  CHECK(unknown.find("megatron_core on a100_sxm_80gb not measured") != std::string::npos);
  CHECK(unknown.find("\"megatron_2021\"") != std::string::npos);
}
