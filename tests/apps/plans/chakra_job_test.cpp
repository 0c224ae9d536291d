#include "apps/plans/chakra_job.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/jobs/program/estimate.h"
#include "models/jobs/program/graphs/rank_nodes.h"
#include "sim/engine/event/event_driven.h"
#include "tests/configs.h"
#include "trace/assemble/build_graph.h"
#include "trace/formats/reader.h"

using foretrace::export_chakra;
using foretrace::ok_status;
using foretrace::parse_scenario;
using foretrace::Scenario;
using foretrace::Status;

namespace {

namespace fs = std::filesystem;

Scenario scenario(const std::string& parallelism, int batch) {
  const std::string text =
      R"({"schema": "foretrace.scenario/1", "workload": {"model": "gpt_22b", "sequence": 2048},
          "cluster": "selene", "framework": "megatron_2022", "precision": "fp16",
          "parallelism": )" +
      parallelism + R"(, "batch": {"global": )" + std::to_string(batch) + R"(, "micro": 1}})";
  auto read = parse_scenario(*foretrace::test::shipped(), text, "test.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  return std::move(*read);
}

std::map<std::string, std::string> exported(const Scenario& scenario) {
  std::map<std::string, std::string> files;
  const auto result =
      export_chakra(scenario, [&](const std::string& name, const std::string& text) -> Status {
        files[name] = text;
        return ok_status();
      });
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(files.size() == result->ranks + 1);
  return files;
}

foretrace::trace::LoadedTrace loaded_back(const std::string& text) {
  const fs::path path = fs::temp_directory_path() / "foretrace_chakra_job_test.et";
  std::ofstream(path, std::ios::binary) << text;
  auto loaded = foretrace::trace::read_trace(path.string(), {});
  fs::remove(path);
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  return std::move(*loaded);
}

foretrace::trace::BuiltGraph read_back(const std::string& text) {
  auto built = foretrace::trace::build_graph(loaded_back(text));
  REQUIRE_MESSAGE(built.ok(), built.error().message);
  return std::move(*built);
}

}  // namespace

TEST_CASE("chakra export: our reader gives a rank back, and its time is the predicted step") {
  const Scenario job = scenario(R"({"tensor": 8, "sequence": true})", 4);
  const auto files = exported(job);
  const auto built = read_back(files.at("rank.3.et"));
  foretrace::Timeline timeline;
  foretrace::simulate_event_driven(built.graph.topology(), built.graph.weights(), timeline);
  const auto step = static_cast<double>(foretrace::estimate(job.job)->step_ns);
  const auto span = static_cast<double>(timeline.span_ns);
  // Kernels beside a collective are slower in the prediction.
  CHECK(span < 1.001 * step);
  CHECK(span > 0.94 * step);
}

TEST_CASE("chakra export: groups hold every rank once, and stages talk to their neighbours") {
  const auto files = exported(scenario(R"({"data": 2, "tensor": 4, "pipeline": 2})", 4));
  CHECK(files.size() == 17);
  const std::string& groups = files.at("comm_group.json");
  CHECK(groups.find("\"1\": [0, 1, 2, 3]") != std::string::npos);
  // The data groups of the first stage.
  CHECK(groups.find("[0, 4]") != std::string::npos);
  CHECK(groups.find("[3, 7]") != std::string::npos);
  CHECK(groups.find("[11, 15]") != std::string::npos);
  const auto built = read_back(files.at("rank.0.et"));
  CHECK(built.graph.size() > 100);
}

TEST_CASE("chakra export: an all-gather has what one rank gives, other collectives all of it") {
  const Scenario job = scenario(R"({"tensor": 8, "sequence": true})", 4);
  const auto program = foretrace::rank_nodes(job.job, *foretrace::build_program(job.job), 0);
  REQUIRE_MESSAGE(program.ok(), (program.ok() ? "" : program.error().message));
  std::vector<std::int64_t> expected;
  for (const foretrace::RankNode& node : *program) {
    if (node.type != foretrace::RankNodeType::collective) continue;
    const bool gathers = node.collective == foretrace::CollectiveKind::all_gather;
    expected.push_back(std::llround(node.bytes) / (gathers ? 8 : 1));
  }
  const auto loaded = loaded_back(exported(job).at("rank.3.et"));
  REQUIRE(loaded.nodes() != nullptr);
  std::vector<std::int64_t> written;
  for (const auto& communication : loaded.nodes()->communications) {
    written.push_back(communication.bytes);
  }
  REQUIRE(expected.size() > 100);
  std::sort(expected.begin(), expected.end());
  std::sort(written.begin(), written.end());
  REQUIRE(written.size() == expected.size());
  for (std::size_t i = 0; i < written.size(); ++i) CHECK(written[i] == expected[i]);
}

TEST_CASE("chakra export: sums of blocks are refused, a dense size beside them would be wrong") {
  Scenario job = scenario(R"({"data": 16})", 16);
  job.job.sparse_gradients = foretrace::SparseSum{.blocks = {.density = 0.01}};
  const auto result = export_chakra(
      job, [](const std::string&, const std::string&) -> Status { return ok_status(); });
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code == foretrace::ErrorCode::unsupported);
  CHECK(result.error().message ==
        "test.json: /sparse_gradients: got sums of blocks, which these traces have no collective "
        "for, expected none");
}

TEST_CASE("chakra export: more ranks than files make sense are refused") {
  Scenario job = scenario(R"({"tensor": 8})", 1);
  job.job.plan.data = 1024;
  const auto result = export_chakra(
      job, [](const std::string&, const std::string&) -> Status { return ok_status(); });
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message ==
        "test.json: /parallelism: got 8192 ranks, expected at most 4096: every one is a file of "
        "its own");
}
