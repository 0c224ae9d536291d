#include "apps/session/scenario/trace_scenario.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/apps/support/program.h"

using namespace foretrace;

namespace {

std::string scenario(const std::string& members) {
  return R"({"schema": "foretrace.scenario/1", )" + members + "}";
}
std::string error_of(const std::string& members) {
  const auto read = parse_trace_scenario(scenario(members), "s.json");
  return read.ok() ? "" : read.error().message;
}

}  // namespace

TEST_CASE("scenario of a trace: it says what whatif --parallel is told") {
  const auto read = parse_trace_scenario(
      scenario(R"("workload": {"trace": "run.json.gz", "layers": 12}, "cluster": "dgx_a100",
                  "parallelism": {"data": 8, "tensor": 4, "pipeline": 2, "sequence": true,
                                  "sharding": "gradients"},
                  "batch": {"micro_batches": 16})"),
      "s.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  REQUIRE(read->has_value());
  CHECK((*read)->trace == "run.json.gz");
  CHECK((*read)->cluster == "dgx_a100");
  CHECK((*read)->settings ==
        "data=8,tensor=4,pipeline=2,sequence=true,zero=2,micro_batches=16,layers=12");
  const auto model = parse_trace_scenario(
      scenario(R"("workload": {"model": "gpt3_175b"}, "cluster": "selene")"), "s.json");
  REQUIRE(model.ok());
  CHECK_FALSE(model->has_value());
}

TEST_CASE("scenario of a trace: what belongs to a model is refused with its place") {
  const std::string trace = R"("workload": {"trace": "a.json"}, "cluster": "dgx_a100")";
  CHECK(error_of(trace) == "");
  CHECK(error_of(trace + R"(, "framework": "megatron_core")") ==
        "s.json: /framework: cannot be used with a trace, which has its own; expected it with a "
        "model");
  CHECK(error_of(trace + R"(, "batch": {"global": 64})") ==
        "s.json: /batch/global: cannot be used with a trace, whose batch is recorded; expected "
        "micro_batches");
  CHECK(error_of(R"("workload": {"trace": "a.json", "model": "b"}, "cluster": "c")") ==
        "s.json: /workload/model: cannot be used with a trace, expected one of the two");
  CHECK(error_of(trace + R"(, "parallelism": {"tensor": -2})").find("got -2") != std::string::npos);
  CHECK(error_of(trace + R"(, "parallelizm": {})").find("did you mean 'parallelism'?") !=
        std::string::npos);
  CHECK(error_of(R"("workload": {"trace": "a.json"})").find("/cluster: missing key") !=
        std::string::npos);
}

TEST_CASE("scenario of a trace: simulate answers as whatif does") {
  using foretrace::test::run_program;
  const auto by_scenario = run_program("simulate tests/fixtures/scenarios/demo_of_trace.json");
  const auto by_what_if = run_program("whatif " + std::string(foretrace::test::demo_trace) +
                                      " --parallel data=8,zero=1 --cluster dgx_a100");
  CHECK(by_scenario.err == by_what_if.err);
  CHECK(by_scenario.out == by_what_if.out);
  CHECK(by_scenario.code == by_what_if.code);
  CHECK(by_scenario.out.find("data-parallel ranks") != std::string::npos);
}
