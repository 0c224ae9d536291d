// The JSON of collectives and of measured machines, against the schemas that are shipped with it.
#include <cstdint>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/apps/support/json_schema.h"
#include "tests/apps/support/program.h"

namespace foretrace::test {
namespace {

using nlohmann::json;

json document_of(const std::string& arguments) {
  const Ran ran = run_program(arguments);
  INFO(arguments << ": " << ran.err);
  REQUIRE(ran.code == 0);
  return json::parse(ran.out);
}

void check_against(const std::string& schema, const json& document) {
  for (const std::string& violation : violations(read_schema(schema), document)) {
    FAIL_CHECK(schema << violation);
  }
}

TEST_CASE("collectives follow their schema, and name what their ranges rest on") {
  for (const std::string machine : {"polaris --ranks 8", "dgx_h100 --ranks 24", "tpu_v4_pod"}) {
    CAPTURE(machine);
    const json document = document_of("collective --cluster " + machine + " --json");
    check_against("collectives-1.json", document);
    REQUIRE(document["collectives"].size() > 100);
    for (const json& one : document["collectives"]) {
      CHECK(one["shortest_ns"].get<std::int64_t>() <= one["time_ns"].get<std::int64_t>());
      CHECK(one["longest_ns"].get<std::int64_t>() >= one["time_ns"].get<std::int64_t>());
      CHECK_FALSE(one["range_basis"].get<std::string>().empty());
    }
  }
}

TEST_CASE("a calibrated machine follows its schema") {
  const json document =
      document_of("calibrate examples/recipes/two_nodes.log --cluster dgx_h100 --json");
  check_against("cluster-1.json", document);
  CHECK(document["curves"].back()["points"].size() == 25);
}

TEST_CASE("a calibrated engine follows its schema") {
  const json document = document_of(
      "calibrate examples/recipes/l4_serve.jsonl --engine vllm --accelerator l4 "
      "--model examples/recipes/qwen2_5_0_5b.json --json");
  check_against("serving_engine-1.json", document);
  CHECK(document.contains("host_per_sequence"));
  CHECK(document["sources"]["host_per_step"].get<std::string>().find("l4_serve.jsonl of ") !=
        std::string::npos);
}

}  // namespace
}  // namespace foretrace::test
