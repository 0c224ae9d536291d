#include "models/jobs/imports/calculon_execution.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "models/jobs/figures/scenario_answer.h"
#include "tests/configs.h"

using foretrace::answer_scenario;
using foretrace::parse_scenario;

namespace {

const std::string folder = FORETRACE_SOURCE_DIR "/tests/fixtures/calculon/";

std::string scenario_with(const std::string& execution) {
  return R"({"schema": "foretrace.scenario/1", "workload": {"model": ")" + folder +
         R"(small_gpt.json"}, "cluster": "selene", "framework": "megatron_2022", )" + execution +
         "}";
}

std::int64_t step_of(const std::string& text) {
  const auto scenario = parse_scenario(*foretrace::test::shipped(), text, "s.json");
  REQUIRE_MESSAGE(scenario.ok(), (scenario.ok() ? "" : scenario.error().message));
  const auto answer = answer_scenario(*scenario);
  REQUIRE(answer.ok());
  return answer->step_ns;
}

std::string error_with(const std::string& from, const std::string& to) {
  std::ifstream file(folder + "execution.json");
  std::stringstream text;
  text << file.rdbuf();
  std::string changed = text.str();
  changed.replace(changed.find(from), from.size(), to);
  const std::string path =
      (std::filesystem::temp_directory_path() / "foretrace_calculon_execution.json").string();
  std::ofstream(path) << changed;
  const auto scenario = parse_scenario(*foretrace::test::shipped(),
                                       scenario_with(R"("execution": ")" + path + "\""), "s.json");
  std::filesystem::remove(path);
  REQUIRE_FALSE(scenario.ok());
  return scenario.error().message;
}

}  // namespace

TEST_CASE("calculon: an execution file gives the step that the same plan gives in our words") {
  const std::int64_t theirs =
      step_of(scenario_with(R"("execution": ")" + folder + "execution.json\""));
  CHECK(theirs == step_of(scenario_with(R"("precision": "fp16",
    "parallelism": {"data": 2, "tensor": 8, "pipeline": 4, "sequence": true,
                    "sharding": "optimizer"},
    "schedule": {"kind": "interleaved", "chunks": 3}, "batch": {"global": 32, "micro": 1},
    "recompute": "selective")")));
}

TEST_CASE("calculon: wrong execution files are one line with both places") {
  CHECK(
      error_with("\"num_procs\": 64", "\"num_procs\": 63")
          .find("/num_procs: got 63, expected tensor_par x pipeline_par x data_par, which is 64") !=
      std::string::npos);
  CHECK(error_with("attn_only", "some")
            .find("/activation_recompute: got 'some', expected one of "
                  "none, attn_only, full") != std::string::npos);
  CHECK(error_with("\"weight_offload\": false", "\"weight_offload\": true")
            .find("/weight_offload: got true, expected false") != std::string::npos);
  CHECK(error_with("\"training\"", "\"trainin\"").find("/training: missing key") !=
        std::string::npos);
  CHECK(error_with("\"tensor_par\": 8", "\"tensor_par\": 0").find("s.json: /execution: ") !=
        std::string::npos);
}
