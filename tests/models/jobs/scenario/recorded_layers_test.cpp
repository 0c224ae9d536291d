// Recorded layers on an imported network, by hand and in both engines.
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "models/jobs/figures/scenario_answer.h"
#include "tests/configs.h"

using foretrace::answer_scenario;
using foretrace::parse_scenario;
using foretrace::read_scenario;
using foretrace::Scenario;

namespace {

const std::string folder = FORETRACE_SOURCE_DIR "/examples/recipes/imports/";

/// Both engines' step in ns, which have to agree.
std::int64_t step_of(const Scenario& scenario) {
  const auto answer = answer_scenario(scenario);
  REQUIRE_MESSAGE(answer.ok(), (answer.ok() ? "" : answer.error().message));
  CHECK(answer->analytic.step_ns == answer->step_ns);
  CHECK(answer->range.low_ns <= answer->step_ns);
  return answer->step_ns;
}

/// A scenario whose workload is this text, on the network of the example.
foretrace::Result<Scenario> with_lines(const std::string& lines, const std::string& parallelism) {
  const auto path = std::filesystem::temp_directory_path() / "foretrace_recorded_layers.txt";
  std::ofstream(path) << lines;
  auto scenario = parse_scenario(*foretrace::test::shipped(),
                                 R"({"schema": "foretrace.scenario/1", "workload": {"model": ")" +
                                     path.string() + R"("}, "cluster": ")" + folder +
                                     R"(pairs.json", "parallelism": )" + parallelism + "}",
                                 "s.json");
  std::filesystem::remove(path);
  return scenario;
}

const std::string data_lines =
    "DATA\n2\n"
    "a -1 1000 NONE 0 900 NONE 0 800 ALLREDUCE 134217728 0\n"
    "b -1 2000 NONE 0 1900 NONE 0 1800 ALLREDUCE 134217728 0\n";

}  // namespace

TEST_CASE("recorded layers: two of them on two dimensions take what the hand computes") {
  const auto scenario = read_scenario(*foretrace::test::shipped(), folder + "recorded_layers.json");
  REQUIRE_MESSAGE(scenario.ok(), (scenario.ok() ? "" : scenario.error().message));
  CHECK(scenario->framework->name == "recorded");
  CHECK(scenario->cluster->accelerator.name == "h100_sxm");
  CHECK(scenario->cluster->accelerators() == 4);
  // See the example's page. In a pair: 2 (500 + 2^26 B / (100 x 2^30 B/s)) + 1000 = 1,252,000 ns.
  // Over the switch: 2 (2 x 1000 + 2^26 / (25 x 2^30)) + 1000 = 5,005,000 ns.
  const std::int64_t forward = 3'000'000 + 1'252'000 + 5'000'000 + 1'252'000;
  const std::int64_t mlp = 4'800'000 + 1'252'000 + 4'600'000;
  const std::int64_t attention = 2'800'000 + 1'252'000 + 2'600'000;
  CHECK(step_of(*scenario) == forward + mlp + attention + 5'005'000);
}

TEST_CASE("recorded layers: gradients queue behind each other and the step waits for the last") {
  const auto scenario = with_lines(data_lines, R"({"data": 4})");
  REQUIRE_MESSAGE(scenario.ok(), (scenario.ok() ? "" : scenario.error().message));
  // Scattered in pairs (500 + 625,000), added up over the switch (2 (2,000 + 1,250,000)), gathered
  // in pairs: 3,755,000 each. The first one starts when b is done: 3,000 + 3,700.
  CHECK(step_of(*scenario) == 3000 + 3700 + 2 * 3'755'000);
  // One rank has nobody to send to.
  const auto alone = with_lines(data_lines, "{}");
  REQUIRE(alone.ok());
  CHECK(step_of(*alone) == 3000 + 3700 + 1700);
}

TEST_CASE("recorded layers: the input's gradient travels beside the weights' where it may") {
  // 128 MiB in a pair: 2 (500 + 625,000) = 1,251,000 ns beside 800 or 1,000,000 ns of weights.
  const auto lines = [](const std::string& kind) {
    return kind +
           "\n2\na -1 1000 NONE 0 900 NONE 0 800 NONE 0 0\n"
           "b -1 1000 NONE 0 900 ALLREDUCE 134217728 1000000 NONE 0 0\n";
  };
  const auto beside = with_lines(lines("MODEL"), R"({"tensor": 2})");
  REQUIRE_MESSAGE(beside.ok(), (beside.ok() ? "" : beside.error().message));
  CHECK(step_of(*beside) == 2000 + 900 + 1'251'000 + 1700);
  const auto at_once =
      with_lines(lines("HYBRID_TRANSFORMER model_parallel_NPU_group: 2"), R"({"tensor": 2})");
  REQUIRE(at_once.ok());
  CHECK(step_of(*at_once) == 2000 + 900 + 1'251'000 + 1'000'000 + 1700);
}

TEST_CASE("recorded layers: sizes of the file are the plan, and another plan is refused") {
  const std::string lines =
      "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4\n1\n"
      "a -1 1000 ALLGATHER 134217728 900 NONE 0 800 ALLREDUCE 134217728 0\n";
  const auto stated = with_lines(lines, "{}");
  REQUIRE_MESSAGE(stated.ok(), (stated.ok() ? "" : stated.error().message));
  CHECK(stated->job.plan.tensor == 2);
  CHECK(stated->job.plan.data == 2);
  // AICB counts the gathered whole: (500 + 625,000); gradients 5,004,000 over the switch.
  CHECK(step_of(*stated) == 1000 + 625'500 + 1700 + 5'004'000);
  const auto other = with_lines(lines, R"({"tensor": 4})");
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().message ==
        "s.json: /parallelism/tensor: got 4, expected 2, which the recorded layers are divided by");
  const auto stages = with_lines(data_lines, R"({"pipeline": 2})");
  REQUIRE_FALSE(stages.ok());
  CHECK(stages.error().message.find(
            "/parallelism/pipeline: got 2, expected 1: the recording does not contain") !=
        std::string::npos);
}

TEST_CASE("recorded layers: a network without an accelerator runs them alone") {
  const auto on = [](const std::string& model) {
    return parse_scenario(*foretrace::test::shipped(),
                          R"({"schema": "foretrace.scenario/1", "workload": {"model": ")" + model +
                              R"("}, "cluster": ")" + folder +
                              R"(network.yml", "framework": "megatron_2022",
                                  "parallelism": {"tensor": 2, "data": 2},
                                  "batch": {"global": 2}})",
                          "s.json");
  };
  const auto recorded = on(folder + "two_layers.txt");
  REQUIRE_MESSAGE(recorded.ok(), (recorded.ok() ? "" : recorded.error().message));
  CHECK(step_of(*recorded) > 30'000'000);
  const auto computed = on("gpt_22b");
  REQUIRE_FALSE(computed.ok());
  CHECK(computed.error().message.find("/cluster: got network, which names no accelerator") !=
        std::string::npos);
}

TEST_CASE("recorded layers: a micro-batch is the recorded one") {
  const auto with_micro = [](const std::string& micro) {
    return parse_scenario(*foretrace::test::shipped(),
                          R"({"schema": "foretrace.scenario/1", "workload": {"model": ")" + folder +
                              R"(two_layers.txt"}, "cluster": ")" + folder +
                              R"(pairs.json", "parallelism": {"tensor": 2, "data": 2},
                                  "batch": {"global": 16, "micro": )" +
                              micro + "}}",
                          "s.json");
  };
  CHECK(with_micro("1").ok());
  const auto other = with_micro("4");
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().message.find("/batch/micro: got 4, expected 1") != std::string::npos);
}
