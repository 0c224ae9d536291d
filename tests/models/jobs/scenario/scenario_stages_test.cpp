#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/jobs/figures/scenario_answer.h"
#include "models/jobs/program/estimate.h"
#include "models/jobs/program/stages.h"
#include "models/jobs/scenario/scenario.h"
#include "tests/configs.h"

using namespace foretrace;

namespace {

// 48 equal layers on a node of 8.
Result<Scenario> parsed(const std::string& parallelism, const std::string& micro,
                        const std::string& more = "") {
  return parse_scenario(
      *foretrace::test::shipped(),
      R"({"schema": "foretrace.scenario/1", "workload": {"model": "gpt_22b", "sequence": 2048},
          "cluster": "selene", "framework": "megatron_core", "batch": {"global": 32, "micro": )" +
          micro + R"(}, "parallelism": )" + parallelism + more + "}",
      "job.json");
}

Scenario scenario(const std::string& parallelism, const std::string& micro,
                  const std::string& more = "") {
  auto read = parsed(parallelism, micro, more);
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  return *std::move(read);
}

Estimate estimated(const Scenario& scenario) { return *estimate(scenario.job); }

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
  const Scenario own = scenario(R"({"stages": [)" + stage + "," + stage + "]}", "4");
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
  const Scenario own = scenario(R"({"stages": [{"layers": 24, "data": 2}, {"layers": 24}]})", "2");
  CHECK_FALSE(check_stages_alike(own.job).ok());
  CHECK_FALSE(unfolded_graph(own.job, *build_program(own.job), Jitter{}).ok());
  CHECK(check_stages_alike(scenario(R"({"stages": [{"layers": 24}, {"layers": 24}]})", "2").job)
            .ok());
}

TEST_CASE("stages: the formula of random jobs is the simulated step, or a little less of 1F1B") {
  std::mt19937 random(11);
  const auto draw = [&random](std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
  };
  std::size_t exact = 0;
  std::size_t jobs = 0;
  while (jobs < 150) {
    // 48 layers in random parts, each with ranks of its own or none.
    const std::uint32_t stages = draw(2, 5);
    const bool own = draw(0, 1) == 0;
    std::uint32_t left = 48;
    std::string list;
    for (std::uint32_t s = 0; s < stages; ++s) {
      const std::uint32_t layers = s + 1 == stages ? left : draw(1, left - (stages - 1 - s));
      left -= layers;
      list += fmt::format("{}{{\"layers\": {}", s == 0 ? "" : ", ", layers);
      if (own)
        list += fmt::format(R"(, "data": {}, "tensor": {})", 1U << draw(0, 2), 1U << draw(0, 1));
      list += "}";
    }
    const bool is_gpipe = draw(0, 3) == 0;
    const auto read =
        parsed(fmt::format(R"({{"stages": [{}]}})", list), draw(0, 1) == 0 ? "4" : "8",
               is_gpipe ? R"(, "schedule": {"kind": "gpipe"})" : "");
    // Groups that lie across two nodes are refused.
    if (!read.ok()) continue;
    ++jobs;
    CAPTURE(list);
    CAPTURE(is_gpipe);
    const auto answer = answer_scenario(*read);
    REQUIRE_MESSAGE(answer.ok(), answer.error().message);
    CHECK(answer->analytic.step_ns <= answer->step_ns);
    CHECK(static_cast<double>(answer->analytic.step_ns) >
          0.8 * static_cast<double>(answer->step_ns));
    const PipelineTimes& times = answer->analytic.times;
    const auto sends = [](const std::vector<std::int64_t>& times_ns) {
      return std::any_of(times_ns.begin(), times_ns.end(), [](std::int64_t ns) { return ns > 0; });
    };
    std::int64_t pass = 0;
    std::int64_t trip = times.forward.front() + times.backward.front();
    for (std::size_t i = 0; i < times.forward.size(); ++i) {
      pass = std::max({pass, times.forward[i], times.backward[i]});
      trip = std::min(trip, times.forward[i] + times.backward[i]);
    }
    const bool nothing_left_out =
        !sends(times.send_forward) && !sends(times.send_backward) && trip >= pass;
    if (is_gpipe || nothing_left_out) CHECK(answer->formula_is_exact());
    if (answer->formula_is_exact()) ++exact;
    CHECK(answer->step_ns == answer->timeline.span_ns);
  }
  CHECK(exact > 100);
}
