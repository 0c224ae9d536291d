#include "models/jobs/scenario/gradient_sums.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/hardware/costs/rates.h"
#include "models/jobs/figures/scenario_answer.h"
#include "models/jobs/program/estimate.h"
#include "models/jobs/program/graphs/rank_nodes.h"
#include "tests/apps/support/program.h"
#include "tests/configs.h"

using foretrace::parse_scenario;

namespace {

std::string text_with(const std::string& members, const std::string& plan = R"("data": 64)") {
  return fmt::format(
      R"({{"schema": "foretrace.scenario/1", "workload": {{"model": "bert_large", "sequence": 128}},
       "cluster": "aws_p3", "framework": "nvidia_bert_2021", "precision": "fp16",
       "parallelism": {{{}}}, "batch": {{"global": 2048, "micro": 32}}{}}})",
      plan, members);
}

double step_ms(const std::string& members) {
  const auto scenario = parse_scenario(*foretrace::test::shipped(), text_with(members), "s.json");
  REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
  const auto answer = foretrace::answer_scenario(*scenario);
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  return static_cast<double>(answer->analytic.step_ns) * 1e-6;
}

std::string error_of(const std::string& members, const std::string& plan = R"("data": 64)") {
  const auto scenario =
      parse_scenario(*foretrace::test::shipped(), text_with(members, plan), "s.json");
  REQUIRE_FALSE(scenario.ok());
  return scenario.error().message;
}

const std::string switches =
    R"(, "aggregation": {"trees": 4, "port_rate": "3.125 GB/s", "level_latency": "2 us"})";

}  // namespace

TEST_CASE("gradient_sums: switches shorten the sum between nodes, sparse gradients both ways") {
  const double ring = step_ms("");
  const double trees = step_ms(switches);
  // 336 M numbers of 2 bytes through 25 Gb/s: most of the step is the sum.
  CHECK(ring / trees > 1.5);
  CHECK(ring / trees < 2.2);
  const double sparse = step_ms(switches + R"(, "sparse_gradients": {"density": 0.005,
                                           "method": "switch"})");
  CHECK(sparse < trees);
  CHECK(step_ms(R"(, "sparse_gradients": {"density": 0.005})") ==
        doctest::Approx(sparse).epsilon(0.01));
  // Dense gradients gain nothing over switches: finding blocks, and sums in the node before.
  const double dense = step_ms(switches + R"(, "sparse_gradients": {"density": 1,
                                          "method": "switch"})");
  CHECK(dense > trees);
  CHECK(dense < 1.15 * trees);
}

TEST_CASE("gradient_sums: no number of servers means as many as nodes, said or not") {
  const std::string sparse = R"(, "sparse_gradients": {"density": 0.05)";
  const double usual = step_ms(sparse + "}");
  CHECK(step_ms(sparse + R"(, "servers": 0})") == usual);
  CHECK(step_ms(sparse + R"(, "servers": 2})") > usual);
  CHECK(error_of(sparse + R"(, "servers": 1.5})").find("/sparse_gradients/servers: ") !=
        std::string::npos);
}

TEST_CASE("gradient_sums: stated exchanges of a rank's program are sums of blocks, too") {
  const auto path = std::filesystem::temp_directory_path() / "foretrace_gradient_sums_test.txt";
  std::ofstream(path) << "DATA\n1\na -1 1000 NONE 0 900 NONE 0 800 ALLREDUCE 134217728 500\n";
  const auto scenario = parse_scenario(
      *foretrace::test::shipped(),
      fmt::format(R"({{"schema": "foretrace.scenario/1", "workload": {{"model": "{}"}},
                   "cluster": "aws_p3", "parallelism": {{"data": 64}},
                   "sparse_gradients": {{"density": 0.005}}}})",
                  path.string()),
      "s.json");
  std::filesystem::remove(path);
  REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
  const foretrace::Job& job = scenario->job;
  const auto built = foretrace::build_program(job);
  REQUIRE_MESSAGE(built.ok(), built.error().message);
  const auto program = foretrace::rank_nodes(job, *built, 0);
  REQUIRE_MESSAGE(program.ok(), program.error().message);
  double sum = 0;
  double computed = 0;
  for (const foretrace::RankNode& node : *program) {
    (node.type == foretrace::RankNodeType::collective ? sum : computed) += node.ns;
  }
  // Forward, both backward passes and the sum behind them.
  CHECK(computed == doctest::Approx(2700));
  const auto step = static_cast<double>(foretrace::estimate(job, *built)->step_ns);
  CHECK(sum + computed == doctest::Approx(step).epsilon(1e-4));
}

TEST_CASE("gradient_sums: who adds up between nodes is said where gradients leave one") {
  const auto page = [](int data) {
    const auto path = std::filesystem::temp_directory_path() / "foretrace_gradient_sums_page.json";
    std::ofstream(path) << text_with(switches + R"(, "sparse_gradients": {"density": 0.1})",
                                     fmt::format(R"("data": {})", data));
    const auto ran = foretrace::test::run_program("simulate " + path.string());
    std::filesystem::remove(path);
    CHECK(ran.code == 0);
    return ran.out;
  };
  // Nodes of eight.
  const std::string two = page(16);
  CHECK(two.find("switches") != std::string::npos);
  CHECK(two.find("servers") != std::string::npos);
  const std::string one = page(8);
  CHECK(one.find("switches") == std::string::npos);
  CHECK(one.find("servers") == std::string::npos);
}

TEST_CASE("gradient_sums: mistakes have their place") {
  CHECK(error_of(R"(, "sparse_gradients": {})") ==
        "s.json: /sparse_gradients/density: missing key, expected a number such as '0.5'");
  CHECK(error_of(R"(, "sparse_gradients": {"density": 1.5})")
            .find("/sparse_gradients/density: got 1.5, expected a share from 0 to 1") !=
        std::string::npos);
  CHECK(error_of(R"(, "sparse_gradients": {"density": 0.1, "method": "swich"})")
            .find("did you mean 'switch'?") != std::string::npos);
  CHECK(error_of(R"(, "sparse_gradients": {"density": 0.1, "method": "switch"})")
            .find("/sparse_gradients/method: got 'switch' for switches that do not aggregate") !=
        std::string::npos);
  CHECK(error_of(R"(, "sparse_gradients": {"density": 0.1})",
                 R"("data": 64, "sharding": "optimizer")")
            .find("/sparse_gradients: got sharding") != std::string::npos);
  CHECK(error_of(R"(, "aggregation": {"trees": 4, "level_latency": "2 us"})")
            .find("/aggregation/port_rate: missing key") != std::string::npos);
}
