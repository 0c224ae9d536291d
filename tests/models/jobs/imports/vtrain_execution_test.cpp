#include "models/jobs/imports/vtrain_execution.h"

#include <string>

#include <doctest/doctest.h>

#include "models/jobs/figures/scenario_answer.h"
#include "tests/configs.h"

using foretrace::answer_scenario;
using foretrace::Job;
using foretrace::parse_scenario;
using foretrace::read_vtrain_execution;
using foretrace::Recompute;

namespace {

const std::string folder = FORETRACE_SOURCE_DIR "/examples/recipes/imports/";

std::int64_t step_of(const std::string& rest) {
  const auto scenario = parse_scenario(
      *foretrace::test::shipped(),
      R"({"schema": "foretrace.scenario/1", "workload": {"model": ")" + folder +
          R"(vtrain.json"}, "cluster": "selene", "framework": "megatron_2022", )" + rest + "}",
      "s.json");
  REQUIRE_MESSAGE(scenario.ok(), (scenario.ok() ? "" : scenario.error().message));
  const auto answer = answer_scenario(*scenario);
  REQUIRE(answer.ok());
  return answer->step_ns;
}

std::string error_of(const std::string& text) {
  const auto file = foretrace::imported_text(text, "v.json");
  REQUIRE(file.ok());
  Job job;
  const auto status = read_vtrain_execution(*file, job);
  REQUIRE_FALSE(status.ok());
  return status.error().message;
}

}  // namespace

TEST_CASE("vtrain: a configuration gives the step that the same plan gives in our words") {
  CHECK(step_of(R"("precision": "fp16", "execution": ")" + folder + "vtrain.json\"") ==
        step_of(R"("precision": "fp16", "recompute": "full", "schedule": {"kind": "1f1b"},
                  "parallelism": {"data": 2, "tensor": 8, "pipeline": 4},
                  "batch": {"global": 32, "micro": 1})"));
}

TEST_CASE("vtrain: without a pipeline a rank takes all of its sequences at once") {
  const auto file = foretrace::imported_text(
      R"({"tensor_parallel_size": 2, "data_parallel_size": 4, "pipeline_parallel_size": 1,
          "global_batch_size": 64, "micro_batch_size": 1, "use_checkpoint": false})",
      "v.json");
  REQUIRE(file.ok());
  Job job;
  REQUIRE(read_vtrain_execution(*file, job).ok());
  CHECK(job.micro_batch == 16);
  CHECK(job.recompute == Recompute::none);
}

TEST_CASE("vtrain: wrong configurations are one line with their place") {
  CHECK(error_of(R"({"tensor_parallel_size": 2, "data_parallel_size": 4, "num_gpus": 9,
                     "pipeline_parallel_size": 1, "global_batch_size": 64})")
            .find("v.json: /num_gpus: is not the product of") == 0);
  CHECK(error_of(R"({"tensor_parallel_size": 2, "data_parallel_size": 4, "micro_batch_size": 1,
                     "pipeline_parallel_size": 2, "global_batch_size": 64,
                     "pipeline_scheduling": "1f1"})") ==
        "v.json: /pipeline_scheduling: got '1f1' (did you mean '1f1b'?), expected one of 1f1b, "
        "gpipe");
}
