// A modelled step on the stages of a pipeline, a rank each, operator by operator.
#pragma once

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/jobs/program/graphs/operator_graph.h"
#include "models/jobs/scenario/scenario.h"
#include "tests/configs.h"

namespace foretrace::test {

inline TaskGraph pipelined_step(const std::string& schedule, int stages, int batches,
                                int copies = 1) {
  const auto scenario =
      parse_scenario(*shipped(),
                     fmt::format(
                         R"({{"schema": "foretrace.scenario/1", "workload": {{"model": "gpt_1.7b"}},
              "cluster": "selene", "framework": "megatron_core", "precision": "bf16",
              "parallelism": {{"pipeline": {}, "data": {}}}, "schedule": {{"kind": "{}"}},
              "batch": {{"global": {}, "micro": 1}}}})",
                         stages, copies, schedule, batches * copies),
                     "s.json");
  REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
  const auto program = build_program(scenario->job);
  REQUIRE_MESSAGE(program.ok(), program.error().message);
  auto graph = operator_graph(scenario->job, *program, "model");
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  return *std::move(graph);
}

}  // namespace foretrace::test
