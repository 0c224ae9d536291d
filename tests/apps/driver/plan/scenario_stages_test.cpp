#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "apps/driver/plan/scenario.h"
#include "models/program/estimate.h"
#include "models/program/stages.h"
#include "tests/configs.h"

using namespace foretrace;

namespace {

// 48 equal layers on a node of 8.
Result<driver::Scenario> parsed(const std::string& parallelism, const std::string& micro,
                                const std::string& more = "") {
  return driver::parse_scenario(
      *foretrace::test::shipped(),
      R"({"schema": "foretrace.scenario/1", "workload": {"model": "gpt_22b", "sequence": 2048},
          "cluster": "selene", "framework": "megatron_core", "batch": {"global": 32, "micro": )" +
          micro + R"(}, "parallelism": )" + parallelism + more + "}",
      "job.json");
}

driver::Scenario scenario(const std::string& parallelism, const std::string& micro,
                          const std::string& more = "") {
  auto read = parsed(parallelism, micro, more);
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  return *std::move(read);
}

Estimate estimated(const driver::Scenario& scenario) {
  return estimate(scenario.job, build_blocks(scenario.job));
}

std::string mistake(const std::string& parallelism, const std::string& micro = "2") {
  const auto read = parsed(parallelism, micro);
  REQUIRE_FALSE(read.ok());
  return read.error().message;
}

}  // namespace

TEST_CASE("stages: even numbers of layers are what is done without numbers") {
  const Estimate plain = estimated(scenario(R"({"tensor": 2, "pipeline": 4})", "1"));
  const Estimate said = estimated(scenario(
      R"({"tensor": 2, "stages": [{"layers": 12}, {"layers": 12}, {"layers": 12}, {"layers": 12}]})",
      "1"));
  CHECK(said.step_ns == plain.step_ns);
  CHECK(said.times.forward == plain.times.forward);
}

TEST_CASE("stages: ranks of their own that are alike are the plan of the whole pipeline") {
  // Two ranks divide the micro-batch of 4: each has the 2 that it has under a plan.
  const Estimate plain = estimated(scenario(
      R"({"data": 2, "tensor": 2, "sequence": true, "pipeline": 2, "sharding": "optimizer"})",
      "2"));
  const std::string stage = R"({"layers": 24, "data": 2, "tensor": 2, "sharding": "optimizer"})";
  const driver::Scenario own = scenario(R"({"stages": [)" + stage + "," + stage + "]}", "4");
  const Estimate said = estimated(own);
  CHECK(own.job.ranks() == 8);
  CHECK(said.step_ns == plain.step_ns);
  CHECK(said.times.send_forward == plain.times.send_forward);
  REQUIRE(said.memory.size() == 2);
  CHECK(said.memory[0].total() == doctest::Approx(plain.memory[0].total()));
  CHECK(said.memory[1].total() == doctest::Approx(plain.memory[1].total()));
}

TEST_CASE("stages: twice the layers take twice the time, and all have the same sum") {
  const Estimate some = estimated(scenario(
      R"({"stages": [{"layers": 20}, {"layers": 7}, {"layers": 14}, {"layers": 7}]})", "1"));
  const auto& forward = some.times.forward;
  REQUIRE(forward.size() == 4);
  CHECK(forward[2] == doctest::Approx(2.0 * static_cast<double>(forward[1])).epsilon(1e-6));
  const Estimate even = estimated(scenario(R"({"pipeline": 4})", "1"));
  const auto sum = [](const std::vector<std::int64_t>& list) {
    return static_cast<double>(std::accumulate(list.begin(), list.end(), std::int64_t{0}));
  };
  CHECK(sum(forward) == doctest::Approx(sum(even.times.forward)).epsilon(1e-6));
}

TEST_CASE("stages: each holds memory by its own layers, ranks and recomputation") {
  const Estimate found = estimated(scenario(
      R"({"stages": [{"layers": 16}, {"layers": 16, "tensor": 2}, {"layers": 16, "tensor": 2,
          "recompute": "full"}]})",
      "1"));
  REQUIRE(found.memory.size() == 3);
  CHECK(found.memory[1].weights < 0.6 * found.memory[0].weights);
  CHECK(found.memory[2].activations < 0.2 * found.memory[1].activations);
}

TEST_CASE("stages: what cannot be is one line that says where") {
  CHECK(mistake(R"({"stages": [{"layers": 24}, {"layers": 23}]})") ==
        "job.json: /parallelism/stages: got 47 layers, expected the 48 of the model");
  CHECK(mistake(R"({"pipeline": 3, "stages": [{"layers": 24}, {"layers": 24}]})") ==
        "job.json: /parallelism/stages: got 2, expected one for each of 3 stages x 1 chunks");
  CHECK(mistake(R"({"stages": [{"layers": 24, "data": 3}, {"layers": 24}]})") ==
        "job.json: /parallelism/stages/0/data: got 3, expected a divisor of the micro-batch of 2");
  CHECK(mistake(R"({"stages": [{"layers": 24, "tensor": 7}, {"layers": 24}]})") ==
        "job.json: /parallelism/stages/0/tensor: got 7, expected a divisor of the 64 heads");
  CHECK(mistake(R"({"data": 2, "stages": [{"layers": 24, "tensor": 2}, {"layers": 24}]})")
            .find("left out") != std::string::npos);
  // Ranks 4 to 11 lie in two nodes of 8.
  CHECK(mistake(R"({"stages": [{"layers": 24, "tensor": 4}, {"layers": 24, "tensor": 8}]})")
            .find("got ranks 4 to 11, expected them in one node of 8") != std::string::npos);
}

TEST_CASE("stages: programs of single ranks decline ranks of their own") {
  const driver::Scenario own =
      scenario(R"({"stages": [{"layers": 24, "data": 2}, {"layers": 24}]})", "2");
  CHECK_FALSE(check_stages_alike(own.job).ok());
  CHECK_FALSE(unfolded_graph(own.job, build_blocks(own.job), Jitter{}).ok());
  CHECK(check_stages_alike(scenario(R"({"stages": [{"layers": 24}, {"layers": 24}]})", "2").job)
            .ok());
}
