#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "apps/session/predict.h"
#include "apps/session/recording/load.h"
#include "models/whatifs/what_if_spec.h"
#include "tests/configs.h"

using namespace foretrace;

namespace {

std::vector<WhatIf> spread(const std::string& parallel, const std::string& cluster) {
  const auto spec = spread_over(parallel, cluster);
  REQUIRE_MESSAGE(spec.ok(), spec.error().message);
  auto stack = check_stack(std::vector{*spec});
  REQUIRE_MESSAGE(stack.ok(), stack.error().message);
  return *std::move(stack);
}

}  // namespace

TEST_CASE("parallel: ResNet-50 from one device gets the buckets that a recorded job of two has") {
  const std::string trace =
      FORETRACE_SOURCE_DIR "/../shared/traces/kineto_resnet50/workers4_v100.json.gz";
  if (!std::filesystem::exists(trace)) {
    MESSAGE("skipped: no real traces");
    return;
  }
  const auto recording = load(trace, {.catalogue = foretrace::test::shipped()});
  REQUIRE_MESSAGE(recording.ok(), recording.error().message);
  const auto prediction = predict(*recording, spread("data=2", ""));
  REQUIRE_MESSAGE(prediction.ok(), prediction.error().message);
  CHECK(prediction->samples == 2.0);
  const TaskGraph& graph = prediction->graph;
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.name(task) == "all-reduce of gradients" && graph.step(task) == 2) {
      numbers.push_back(graph.work(task).bytes / 4);
    }
  }
  // Elements of the all-reduces of a step in hta/nccl_args_2rank_a100_rank0.json.gz.
  CHECK(numbers ==
        std::vector<std::int64_t>{2'049'000, 7'875'584, 6'563'840, 6'637'568, 2'431'040});
}

TEST_CASE("spread_over: recorded is short for recorded=true, and the cluster goes along") {
  const auto spec = spread_over("recorded,ranks=8", "selene");
  REQUIRE(spec.ok());
  CHECK(text_of(*spec) == "parallel:recorded=true,ranks=8,cluster=selene");
  CHECK_FALSE(spread_over("data", "").ok());
}

TEST_CASE("parallel: one rank of a recorded job predicts the step of the job") {
  struct Job {
    std::string rank;
    std::string parallel;
    double step_ms;  ///< of the job, median over its ranks, as `simulate` of all ranks says
    double within;
  };
  const std::string folder = FORETRACE_SOURCE_DIR "/../shared/traces/";
  const Job jobs[] = {
      {"torchrec_dlrm_v100x4/fp32_a2a_rank1.json.gz", "recorded,ranks=4", 160.4, 0.10},
      {"torchrec_dlrm_v100x4/fp32_a2a_rank2.json.gz", "recorded,ranks=4", 160.4, 0.10},
      {"torchrec_dlrm_v100x4/fp32_a2a_rank3.json.gz", "recorded,ranks=4", 160.4, 0.10},
      {"megatron_tp8_a100/kineto_0.json.gz", "recorded", 606.7, 0.10},
      {"megatron_tp8_a100/kineto_3.json.gz", "recorded", 606.7, 0.10}};
  for (const Job& job : jobs) {
    CAPTURE(job.rank);
    if (!std::filesystem::exists(folder + job.rank)) {
      MESSAGE("skipped: no real traces");
      continue;
    }
    const auto recording = load(folder + job.rank, {.catalogue = foretrace::test::shipped()});
    REQUIRE_MESSAGE(recording.ok(), recording.error().message);
    const auto prediction = predict(*recording, spread(job.parallel, ""));
    REQUIRE_MESSAGE(prediction.ok(), prediction.error().message);
    const double ms = static_cast<double>(prediction->run.answer.step_ns) * 1e-6;
    CHECK(ms == doctest::Approx(job.step_ms).epsilon(job.within));
  }
}
