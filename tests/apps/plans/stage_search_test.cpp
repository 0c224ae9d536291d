#include "apps/plans/stage_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "apps/report/pages/cluster/stages.h"
#include "apps/report/writers.h"
#include "models/jobs/figures/device_memory.h"
#include "models/jobs/figures/scenario_answer.h"
#include "models/jobs/scenario/scenario_text.h"
#include "tests/configs.h"

using namespace foretrace;

namespace {

// Five layers: the first compute most, the last has nearly all weights. Nodes of 4 on PCIe.
constexpr const char* unequal = R"({"schema": "foretrace.model/1", "product": "unequal",
  "family": "layers", "widest": 200000, "blocks": [
    {"name": "stem", "operators": [{"map": "input", "numbers": 200000}]},
    {"name": "wide", "count": 2, "operators": [
      {"product": "conv", "rows": 12544, "inputs": 576, "outputs": 64, "reads": 200000}]},
    {"name": "middle", "count": 2, "operators": [
      {"product": "conv", "rows": 196, "inputs": 2304, "outputs": 256, "reads": 50000}]},
    {"name": "deep", "operators": [
      {"product": "dense", "inputs": 8192, "outputs": 8192}]},
    {"name": "head", "operators": [{"map": "loss", "numbers": 1000}]}],
    "source": "made up for a test"})";

Scenario scenario_of(const ModelSpec& model, const std::string& cluster) {
  Scenario scenario;
  scenario.model = std::make_shared<const ModelSpec>(model);
  scenario.cluster =
      std::make_shared<const Cluster>(*find_cluster(*foretrace::test::shipped(), cluster));
  scenario.framework = std::make_shared<const Framework>(
      *find_framework(*foretrace::test::shipped(), "megatron_core"));
  scenario.job.precisions = *precisions_of("fp16");
  scenario.job.length = scenario.job.keys = scenario.model->transformer.positions;
  return scenario;
}

Scenario unequal_scenario() {
  auto model = parse_model(unequal, "unequal.json");
  REQUIRE_MESSAGE(model.ok(), model.error().message);
  Scenario scenario = scenario_of(*model, "aws_g4dn");
  scenario.job.length = scenario.job.keys = 1;
  return scenario;
}

StageAnswer searched(const Scenario& scenario, std::uint32_t gpus, double batch) {
  auto answer = search_stages({scenario, gpus, batch, 5});
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  return *std::move(answer);
}

// Every partition into stages, way to divide one, and micro-batch.
struct All {
  Scenario scenario;
  std::uint32_t gpus = 1;
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  std::size_t tried = 0;

  void from(std::uint32_t layers, std::uint32_t devices) {
    Job& job = scenario.job;
    if (layers == 0 || devices == 0) {
      if (layers == 0 && devices == 0) evaluate();
      return;
    }
    for (std::uint32_t own = 1; own <= layers; ++own) {
      for (std::uint32_t data = 1; data <= devices; data *= 2) {
        for (const Recompute recompute : {Recompute::none, Recompute::full}) {
          for (const Sharding sharding :
               {Sharding::none, Sharding::optimizer, Sharding::parameters}) {
            if (data == 1 && sharding != Sharding::none) continue;
            job.stages.push_back({own, data, 1, sharding, recompute});
            from(layers - own, devices - data);
            job.stages.pop_back();
          }
        }
      }
    }
  }
  void evaluate() {
    Scenario one = scenario;
    one.job.plan.pipeline = static_cast<std::uint32_t>(one.job.stages.size());
    for (double micro = 1; micro <= one.job.global_batch; micro *= 2) {
      one.job.micro_batch = micro;
      auto complete = complete_scenario(one);
      if (!complete.ok()) continue;
      const Estimate found = *estimate(complete->job);
      if (!foretrace::fits_device(complete->job, found.memory)) continue;
      ++tried;
      best = std::min(best, found.step_ns);
    }
  }
};

}  // namespace

TEST_CASE("stage search: layers that are not alike get stages that are not") {
  const StageAnswer answer = searched(unequal_scenario(), 4, 64);
  REQUIRE_FALSE(answer.best.empty());
  REQUIRE(answer.even.has_value());
  const StagedPlan& best = answer.best.front();
  const Job& job = best.scenario.job;
  CHECK(static_cast<double>(best.step_ns) < 0.85 * static_cast<double>(answer.even->step_ns));
  CHECK(job.ranks() == 4);
  CHECK(job.stages.size() > 1);
  CHECK(std::any_of(job.stages.begin(), job.stages.end(), [&job](const StageShare& share) {
    return share.data != job.stages.front().data || share.layers != job.stages.front().layers;
  }));
}

TEST_CASE("stage search: no partition of a small model is faster") {
  Scenario scenario = unequal_scenario();
  All all{.scenario = scenario, .gpus = 4};
  all.scenario.job.global_batch = 16;
  all.from(scenario.model->transformer.layers, 4);
  REQUIRE(all.tried > 1000);
  const StageAnswer answer = searched(scenario, 4, 16);
  // The bound that partitions are chosen by leaves out what stages send.
  CHECK(static_cast<double>(answer.best.front().step_ns) <= 1.02 * static_cast<double>(all.best));
  CHECK(answer.best.front().step_ns >= all.best);
}

TEST_CASE("stage search: the plan that is written is the plan that was simulated") {
  auto model = find_model(*foretrace::test::shipped(), "gpt2_medium");
  REQUIRE(model.ok());
  const StageAnswer answer = searched(scenario_of(*model, "aws_g4dn"), 16, 32);
  REQUIRE_FALSE(answer.best.empty());
  for (const StagedPlan& plan : answer.best) {
    const std::string text =
        scenario_text(plan.scenario.job, {"gpt2_medium", "aws_g4dn", "megatron_core"});
    CAPTURE(text);
    auto read = parse_scenario(*foretrace::test::shipped(), text, "best.json");
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    const auto again = answer_scenario(*read);
    REQUIRE(again.ok());
    CHECK(again->step_ns == plan.step_ns);
    CHECK(again->fits);
  }
  CHECK(answer.best.front().step_ns <= answer.even->step_ns);
}

TEST_CASE(
    "stage search: of a profile nobody knows the operations, nor what share of a peak it is") {
  const auto read = read_scenario(*foretrace::test::shipped(), FORETRACE_SOURCE_DIR
                                  "/examples/recipes/imports/profiled_net.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const StageAnswer answer = searched(*read, 4, 16);
  REQUIRE_FALSE(answer.best.empty());
  CHECK_FALSE(answer.best.front().figures.flops_utilization.has_value());
  const auto page = foretrace::report::stages_page({*read, answer});
  CHECK(foretrace::report::text_of(page).find("MFU 0") == std::string::npos);
  const std::string json = foretrace::report::json_of(page);
  CHECK(json.find(R"("model_flops_utilization": null)") != std::string::npos);
  CHECK(json.find(R"("model_flops_utilization": 0)") == std::string::npos);
}

TEST_CASE("stage search: a model without room anywhere has no plan, one without units an error") {
  auto large = find_model(*foretrace::test::shipped(), "gpt3_175b");
  REQUIRE(large.ok());
  const StageAnswer answer = searched(scenario_of(*large, "aws_g4dn"), 4, 4);
  CHECK(answer.best.empty());
  CHECK_FALSE(answer.even.has_value());
  Scenario scenario = unequal_scenario();
  scenario.job.precisions = *precisions_of("bf16");
  const auto refused = search_stages({scenario, 4, 16, 5});
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("/precision: got bf16") != std::string::npos);
}
