#include "models/editing/tensors/training_pass.h"

#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/jobs/program/graphs/operator_graph.h"
#include "models/jobs/scenario/scenario.h"
#include "tests/configs.h"

using namespace foretrace;
using editing::KernelEditor;

namespace {

TaskGraph pipeline(const std::string& schedule, int stages, int batches) {
  const auto scenario =
      parse_scenario(*test::shipped(),
                     fmt::format(
                         R"({{"schema": "foretrace.scenario/1", "workload": {{"model": "gpt_1.7b"}},
              "cluster": "selene", "framework": "megatron_core", "precision": "bf16",
              "parallelism": {{"pipeline": {}}}, "schedule": {{"kind": "{}"}},
              "batch": {{"global": {}, "micro": 1}}}})",
                         stages, schedule, batches),
                     "s.json");
  REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
  const auto program = build_program(scenario->job);
  REQUIRE_MESSAGE(program.ok(), program.error().message);
  auto graph = operator_graph(scenario->job, *program, "model");
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  return *std::move(graph);
}

}  // namespace

TEST_CASE("training pass: every micro-batch of a stage is a pass, whatever follows it") {
  for (const std::string schedule : {"gpipe", "1f1b"}) {
    for (const int stages : {1, 2, 4}) {
      for (const int batches : {4, 8}) {
        CAPTURE(schedule);
        CAPTURE(stages);
        CAPTURE(batches);
        const TaskGraph graph = pipeline(schedule, stages, batches);
        const KernelEditor editor({graph, nullptr, *test::shipped()});
        std::map<std::int32_t, std::vector<editing::TrainingPass>> passes;
        for (auto& pass : editing::find_passes(editor)) {
          passes[graph.lane(pass.forward.front()).rank].push_back(pass);
        }
        if (stages == 1 && schedule == "gpipe") continue;  // nothing tells them apart
        CHECK(passes.size() == static_cast<std::size_t>(stages));
        for (const auto& [rank, found] : passes) {
          CHECK(found.size() == static_cast<std::size_t>(batches));
          for (const auto& pass : found) {
            CHECK(pass.forward.size() == found.front().forward.size());
            CHECK(index(pass.forward.back()) < index(pass.backward.front()));
          }
        }
      }
    }
  }
}
