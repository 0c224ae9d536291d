#include "models/hardware/power/energy.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "apps/report/builder.h"
#include "apps/report/pages/cluster/scenario.h"
#include "apps/report/writers.h"
#include "apps/session/predicted_energy.h"
#include "apps/session/recording/load.h"
#include "apps/session/replay/analysis.h"
#include "models/jobs/figures/scenario_answer.h"
#include "models/jobs/scenario/scenario.h"
#include "models/whatifs/what_if.h"
#include "tests/configs.h"
#include "tests/models/toy_run.h"

using foretrace::filled_share;
using foretrace::step_energy;

namespace {

/// 3 us on all of 132 multiprocessors, 1 us on a quarter of them, on two streams.
foretrace::TaskGraph graph_of() {
  foretrace::test::ToyRun run;
  const auto large = run.kernel({.name = "large", .duration_ns = 3000});
  const auto side = run.add_stream(9);
  run.bystander(side, large, 1000);
  auto graph = run.build();
  foretrace::GraphContext context = graph.context();
  for (foretrace::Work& work : context.works) {
    const bool is_large = context.names[work.name] == "large";
    work.grid = {is_large ? 264 : 33, 1, 1};
  }
  return {std::make_shared<const foretrace::Topology>(graph.topology()),
          std::make_shared<const foretrace::TaskColumns>(graph.columns()),
          std::make_shared<const foretrace::GraphContext>(std::move(context)), graph.weights()};
}

}  // namespace

TEST_CASE("energy: kernels count as far as their blocks fill the device") {
  const auto graph = graph_of();
  CHECK(filled_share(graph, 132) == doctest::Approx(3.25 / 4));
  CHECK(filled_share(graph, 0) == doctest::Approx(1));
}

TEST_CASE("energy: a step draws what its board does, if that is known") {
  const foretrace::Catalogue& known = *foretrace::test::shipped();
  const auto graph = graph_of();
  const auto device = known.accelerator("h200_sxm");
  REQUIRE(device.ok());
  const auto energy = step_energy(known, **device, graph, 8000, 4000);
  REQUIRE_MESSAGE(energy.ok(), energy.error().message);
  REQUIRE(energy->has_value());
  const auto power = foretrace::board_power(known, "h200_sxm");
  // 3.25 of 8 us.
  CHECK((*energy)->joules ==
        doctest::Approx((*power)->idle_w * 4.75e-6 + (*power)->busy_w * 3.25e-6));
  const auto unknown = step_energy(known, **known.accelerator("tpu_v4"), graph, 8000, 4000);
  REQUIRE(unknown.ok());
  CHECK_FALSE(unknown->has_value());
}

TEST_CASE("energy: of a board with another clock, or of a part of it, nothing is said") {
  const foretrace::Catalogue& known = *foretrace::test::shipped();
  foretrace::Prediction prediction;
  prediction.graph = graph_of();
  prediction.applied.resize(1);
  prediction.accelerator = **known.accelerator("h200_sxm");
  prediction.run.answer.step_ns = 8000;
  const auto is_said_with = [&](std::string_view name) {
    for (const foretrace::WhatIfInfo* const info : foretrace::what_ifs::all()) {
      if (info->name == name) prediction.applied[0].info = info;
    }
    REQUIRE(prediction.applied.front().info->name == name);
    const auto energy = foretrace::predicted_energy(known, prediction, 4000);
    REQUIRE_MESSAGE(energy.ok(), energy.error().message);
    return energy->has_value();
  };
  CHECK(is_said_with("fused_optimizer"));
  CHECK(is_said_with("accelerator_swap"));
  CHECK_FALSE(is_said_with("power_cap"));
  CHECK_FALSE(is_said_with("mig_slice"));
  CHECK_FALSE(is_said_with("tensordash"));
  CHECK(is_said_with("scale"));
}

TEST_CASE(
    "energy: recorded steps lie within what the board counted, one model is unknown to the fit") {
  // measured.csv: J per step, back to back; the LSTM model is not among the rows of the fit.
  for (const auto& [name, joules] :
       {std::pair{"gpt2", 125.722}, {"resnet50", 38.902}, {"gnmt", 41.533}}) {
    const std::string file =
        std::string(FORETRACE_SOURCE_DIR "/examples/traces/h200/") + name + ".baseline.ftr.gz";
    CAPTURE(file);
    foretrace::LoadOptions options;
    options.catalogue = foretrace::test::shipped();
    const std::vector<std::string> inputs = {file};
    const auto recording = foretrace::load_inputs(inputs, options);
    REQUIRE_MESSAGE(recording.ok(), (recording.ok() ? std::string() : recording.error().message));
    const auto run = foretrace::replay(*recording, {});
    REQUIRE(run.ok());
    const auto analysis = foretrace::analyse(recording->graph(), run->run);
    const auto energy = step_energy(*options.catalogue, *recording->accelerator, recording->graph(),
                                    run->run.answer.step_ns, analysis.breakdown.compute_ns);
    REQUIRE(energy.ok());
    REQUIRE(energy->has_value());
    CHECK((*energy)->low_joules < joules);
    CHECK((*energy)->high_joules > joules);
    CHECK((*energy)->joules == doctest::Approx(joules).epsilon(0.1));
  }
}

TEST_CASE("energy: what is wrong in the file of boards is told, with the file that was read") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "foretrace_energy_test";
  fs::remove_all(folder);
  fs::copy(FORETRACE_SOURCE_DIR "/configs", folder, fs::copy_options::recursive);
  std::ofstream(folder / "power" / "boards.json")
      << R"({"schema": "foretrace.power/1", "idle": 0.1, "busy": 0.9, "less": 1, "more": 1,
             "source": "x", "measured": [], "limits_watts": {"h200_sxm": -700}})";
  const auto known = foretrace::Catalogue::read(folder.string());
  REQUIRE_MESSAGE(known.ok(), known.error().message);
  const auto energy = step_energy(*known, **known->accelerator("h200_sxm"), graph_of(), 8000, 4000);
  REQUIRE_FALSE(energy.ok());
  CHECK(energy.error().message == (folder / "power" / "boards.json").string() +
                                      ": /limits_watts/h200_sxm: got -700, expected watts above 0");
  // A page says it in one line.
  const auto scenario = foretrace::parse_scenario(
      *foretrace::test::shipped(),
      R"({"schema": "foretrace.scenario/1", "workload": {"model": "gpt_22b", "sequence": 2048},
          "cluster": "selene", "framework": "megatron_2022", "precision": "fp16",
          "parallelism": {"tensor": 8, "sequence": true}, "batch": {"global": 8, "micro": 1}})",
      "s.json");
  REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
  const auto answer = foretrace::answer_scenario(*scenario);
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  const std::string page = foretrace::report::text_of(
      foretrace::report::scenario_page({*scenario, *answer, "", &*known}));
  CHECK_MESSAGE(page.find("left out: ") != std::string::npos, page);
  CHECK(page.find("boards.json") != std::string::npos);
  fs::remove_all(folder);
}
