// Execution traces of ranks as the workload of a scenario.
#include "apps/session/nodes/node_answer.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "apps/plans/chakra_job.h"
#include "models/jobs/program/estimate.h"
#include "models/jobs/scenario/scenario.h"
#include "tests/configs.h"

namespace foretrace {
namespace {

namespace fs = std::filesystem;

Result<std::optional<NodeScenario>> parsed(const std::string& members) {
  return parse_node_scenario(*test::shipped(),
                             R"({"schema": "foretrace.scenario/1", )" + members + "}", "s.json");
}

std::string refusal(const std::string& members) {
  const auto scenario = parsed(members);
  return scenario.ok() ? "" : scenario.error().message;
}

Result<NodeAnswer> answered(const std::string& members) {
  const auto scenario = parsed(members);
  REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
  REQUIRE(scenario->has_value());
  return answer_nodes(**scenario);
}

/// A folder that is gone at the end.
struct Folder {
  fs::path path = fs::temp_directory_path() / "foretrace_node_answer_test";
  Folder() {
    fs::remove_all(path);
    fs::create_directory(path);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

struct RoundTrip {
  double exported = 0;
  double read_back = 0;
};

RoundTrip round_trip(const std::string& parallelism, const std::string& cluster) {
  const std::string text =
      R"({"schema": "foretrace.scenario/1", "workload": {"model": "gpt_22b", "sequence": 2048},
          "cluster": ")" +
      cluster + R"(", "framework": "megatron_2022", "precision": "fp16",
          "parallelism": )" +
      parallelism + R"(, "batch": {"global": 8, "micro": 1}})";
  const auto scenario = parse_scenario(*test::shipped(), text, "test.json");
  REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
  const Folder folder;
  const auto exported =
      export_chakra(*scenario, [&](const std::string& name, const std::string& bytes) -> Status {
        std::ofstream(folder.path / name, std::ios::binary) << bytes;
        return ok_status();
      });
  REQUIRE_MESSAGE(exported.ok(), exported.error().message);
  const auto answer = answered(R"("workload": {"chakra": ")" + folder.path.generic_string() +
                               R"("}, "cluster": ")" + cluster + "\"");
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  CHECK(answer->ranks == exported->ranks);
  const Estimate step = *estimate(scenario->job);
  return {static_cast<double>(step.step_ns), static_cast<double>(answer->run.answer.step_ns)};
}

}  // namespace

TEST_CASE("chakra workload: an exported scenario takes as long when it is read back") {
  // Kernels beside a collective are slower in the prediction, so that it is a little longer.
  for (const char* const plan :
       {R"({"tensor": 8, "sequence": true})", R"({"data": 2, "tensor": 4, "pipeline": 2})"}) {
    const RoundTrip trip = round_trip(plan, "selene");
    CAPTURE(plan);
    CHECK(trip.read_back < 1.001 * trip.exported);
    CHECK(trip.read_back > 0.95 * trip.exported);
  }
  // Nothing runs beside the gradients, which the trace has as one all-reduce.
  const RoundTrip trip = round_trip(R"({"data": 8})", "selene");
  CHECK(trip.read_back == doctest::Approx(trip.exported).epsilon(0.002));
}

TEST_CASE("chakra workload: another cluster changes communication and nothing else") {
  const std::string folder = FORETRACE_SOURCE_DIR "/examples/recipes/scenarios/two_ranks";
  const auto on = [&](const std::string& cluster) {
    auto answer =
        answered(R"("workload": {"chakra": ")" + folder + R"("}, "cluster": ")" + cluster + "\"");
    REQUIRE_MESSAGE(answer.ok(), answer.error().message);
    return std::move(*answer);
  };
  const NodeAnswer fast = on("dgx_h100");
  const NodeAnswer slow = on("aws_g4dn");
  CHECK(fast.analysis.breakdown.compute_ns == slow.analysis.breakdown.compute_ns);
  CHECK(fast.transfer_ns < slow.transfer_ns);
  CHECK(fast.run.answer.step_ns < slow.run.answer.step_ns);
  // Rank 1 computes 6.6 + 5.5 + 5.5 ms, waits for one exposed all-reduce, and updates for 0.9 ms.
  REQUIRE(fast.exchanges.size() == 1);
  CHECK(fast.exchanges[0].count == 2);
  CHECK(fast.busiest_rank == 1);
  CHECK(fast.run.answer.step_ns == 18'500'000 + fast.exchanges[0].ns);
}

TEST_CASE("chakra workload: what was not taken of the machine's file is told as for a model") {
  const auto answer =
      answered(R"("workload": {"chakra": ")" FORETRACE_SOURCE_DIR
               R"(/examples/recipes/scenarios/two_ranks"}, "cluster": ")" FORETRACE_SOURCE_DIR
               R"(/tests/fixtures/scenarios/behind_a_switch/hgx.json")");
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  const auto& warnings = answer->warnings;
  CHECK(std::any_of(warnings.begin(), warnings.end(), [](const std::string& warning) {
    return warning.find("ignored settings of the system") != std::string::npos &&
           warning.find("active-chunks-per-dimension") != std::string::npos;
  }));
}

TEST_CASE("chakra workload: mistakes of the file are told with their place") {
  CHECK_FALSE(parsed(R"("workload": {"model": "gpt_22b"}, "cluster": "selene")")->has_value());
  CHECK(refusal(R"("workload": {"chakra": "x", "model": "gpt_22b"}, "cluster": "selene")") ==
        "s.json: /workload/model: cannot be used with chakra, expected one of the two");
  CHECK(refusal(R"("workload": {"chakra": "x"}, "cluster": "selene", "batch": {"global": 8})") ==
        "s.json: /batch: cannot be used with traces of ranks, which have their own; expected it "
        "with a model");
  CHECK(refusal(R"("workload": {"chakra": []}, "cluster": "selene")").find("/workload/chakra") !=
        std::string::npos);
  const std::string folder = FORETRACE_SOURCE_DIR "/examples/recipes/scenarios/two_ranks";
  const auto alone =
      answered(R"("workload": {"chakra": ")" + folder + R"("}, "cluster": "single")");
  REQUIRE_FALSE(alone.ok());
  CHECK(alone.error().message.find("takes part with rank 1, and single has 1 accelerators") !=
        std::string::npos);
  const auto model = parse_scenario(
      *test::shipped(),
      R"({"schema": "foretrace.scenario/1", "workload": {"chakra": "x"}, "cluster": "selene"})",
      "s.json");
  REQUIRE_FALSE(model.ok());
  CHECK(model.error().message.find("which only 'simulate' runs") != std::string::npos);
}

TEST_CASE("chakra workload: what is lost of a rank's trace is told, and the answer doubted") {
  const Folder folder;
  const fs::path whole = FORETRACE_SOURCE_DIR "/examples/recipes/scenarios/two_ranks";
  const auto answer_of = [&] {
    auto answer = answered(R"("workload": {"chakra": ")" + folder.path.generic_string() +
                           R"("}, "cluster": "dgx_h100")");
    REQUIRE_MESSAGE(answer.ok(), answer.error().message);
    return std::move(*answer);
  };
  fs::copy(whole, folder.path, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  const NodeAnswer good = answer_of();
  CHECK(good.warnings.empty());
  CHECK(good.doubts.empty());
  const fs::path second = folder.path / "rank.1.json";
  fs::resize_file(second, fs::file_size(second) - 40);
  const NodeAnswer cut = answer_of();
  REQUIRE_FALSE(cut.warnings.empty());
  CHECK(cut.warnings.front().starts_with("rank.1.json: "));
  REQUIRE(cut.doubts.size() == 1);
  CHECK(cut.doubts[0].brief == "the trace is truncated");
}

TEST_CASE("chakra workload: a list of groups is refused with its place") {
  const Folder folder;
  const std::string path = (folder.path / "comm_group.json").generic_string();
  const auto message = [&](const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
    const auto list = read_group_list(path);
    return list.ok() ? "" : list.error().message;
  };
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  CHECK(message(R"({"0": )" + deep + "}") == path + ": more than 64 levels of nesting");
  CHECK(message(R"({"0": [[0]]})") == path + ": /0: got a list, expected a rank");
  CHECK(message(R"({"0": {"a": 1}})") == path + ": /0: got an object, expected a list of ranks");
  CHECK(message(R"({"0": [0, 1.5]})") == path + ": /0: got the number 1.5, expected a rank");
  CHECK(message(R"({"0": [0, "1"]})") == path + ": /0: got '1', expected a rank");
  CHECK(message(R"({"0": [1, 0, 1]})") == path + ": /0: got rank 1 twice, expected each rank once");
  CHECK(message(R"({"0": []})") == path + ": /0: got an empty list, expected ranks");
  CHECK(message(R"({"0": [0], "0": [1]})") ==
        path + ": key '0' twice in one object, expected it once");
  CHECK(message("[]").find("/: got a list, expected groups with their ranks") != std::string::npos);
  // More groups than a config has keys.
  std::string many;
  for (int i = 0; i < 3000; ++i)
    many += (i == 0 ? "{\"" : ",\"") + std::to_string(i) + "\": [1, 0]";
  CHECK(message(many + "}").empty());
  CHECK(read_group_list(path)->at("2999") == std::vector<std::int32_t>{0, 1});
}

TEST_CASE("chakra workload: an exchange that takes longer than a step can is refused") {
  // Five ranks are on two nodes.
  const Folder folder;
  for (int rank = 0; rank < 5; ++rank) {
    std::ofstream(folder.path / ("rank." + std::to_string(rank) + ".json"), std::ios::binary)
        << R"({"workload_graph": [{"Id": 1, "Name": "meet", "NodeType": 7, "comm_type": 0,
              "comm_size": 1000, "is_cpu_op": false, "data_deps": []}]})";
  }
  const auto scenario = parsed(R"("workload": {"chakra": ")" + folder.path.generic_string() +
                               R"("}, "cluster": "aws_g4dn")");
  REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
  NodeScenario slow = **scenario;
  slow.cluster.network.step_latency_ns = 1e30;
  const auto answer = answer_nodes(slow);
  REQUIRE_FALSE(answer.ok());
  CHECK_MESSAGE(
      answer.error().message.find("all_reduce of 1e+03 bytes takes ") != std::string::npos,
      answer.error().message);
  CHECK(answer.error().message.find("expected less than 4e+18") != std::string::npos);
}

TEST_CASE("chakra workload: traces of two ranks that PyTorch recorded") {
  const std::string folder = FORETRACE_SHARED_DIR "/traces/megatron_tp2_v100/";
  if (!fs::exists(folder + "final.0.et.gz")) {
    MESSAGE("SKIPPED: no " << folder);
    return;
  }
  const auto answer = answered(R"("workload": {"chakra": [")" + folder + R"(final.0.et.gz", ")" +
                               folder + R"(final.1.et.gz"]}, "cluster": "dgx1_v100")");
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  CHECK(answer->ranks == 2);
  CHECK(answer->groups.empty());  // they say themselves who is in group 13
  std::uint64_t exchanges = 0;
  for (const ExchangeRow& row : answer->exchanges) exchanges += row.count;
  CHECK(exchanges == 13);
  // Recorded kernels spin until the other rank is there.
  CHECK(answer->transfer_ns < answer->recorded_transfer_ns);
}

}  // namespace foretrace
