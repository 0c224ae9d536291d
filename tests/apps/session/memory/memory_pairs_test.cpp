// Peaks of device memory predicted from one recording, against the recording of the other side.
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "apps/session/predict.h"
#include "apps/session/recording/load.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/engine/pull/pull.h"
#include "tests/configs.h"

namespace foretrace {
namespace {

std::string path_of(const std::string& name) {
  std::string path = FORETRACE_SHARED_DIR "/traces/" + name + ".json.gz";
  if (std::filesystem::exists(path)) return path;
  MESSAGE("skipped, not here: ", name);
  return {};
}

std::int64_t peak_of(const TaskGraph& graph) {
  const auto curves = track_memory(graph, simulate(graph));
  REQUIRE(curves.size() == 1);
  return curves[0].peak_bytes;
}

std::vector<WhatIf> stack_of(const WhatIfSpec& request) {
  const auto what_if = check_what_if(request);
  REQUIRE_MESSAGE(what_if.ok(), what_if.error().message);
  return {*what_if};
}

TEST_CASE("memory: peaks on an MI300X from recordings on an H100, by tables of workspaces alone") {
  for (const char* model : {"bert_small", "vit_nsfw", "qwen15_05b"}) {
    const std::string from = path_of(std::string("tracelens/") + model + "_h100");
    const std::string to = path_of(std::string("tracelens/") + model + "_mi300x");
    if (from.empty() || to.empty()) continue;
    const auto recorded = load(from, {.catalogue = test::shipped()});
    REQUIRE(recorded.ok());
    const auto measured = load(to, {.catalogue = test::shipped()});
    REQUIRE(measured.ok());
    const auto stack = stack_of({"accelerator_swap", {{"to", "mi300x"}}});
    const auto prediction = predict(*recorded, stack);
    REQUIRE_MESSAGE(prediction.ok(), prediction.error().message);
    const double predicted = static_cast<double>(peak_of(prediction->graph)) / 0x1p20;
    const double truth = static_cast<double>(peak_of(measured->graph())) / 0x1p20;
    MESSAGE(std::string(model), ": ", static_cast<double>(peak_of(recorded->graph())) / 0x1p20,
            " MiB -> ", predicted, " MiB predicted, ", truth, " MiB measured");
    CHECK(std::abs(predicted / truth - 1) < 0.01);
  }
}

TEST_CASE("memory: AdamW to 8-bit AdamW, from the first timeline alone") {
  const std::string from = path_of("ao/adamw_memory_timeline");
  const std::string to = path_of("ao/adamw8bit_memory_timeline");
  if (from.empty() || to.empty()) return;
  LoadOptions options{.catalogue = test::shipped()};
  options.memory_graph = true;
  const auto recorded = load(from, options);
  REQUIRE_MESSAGE(recorded.ok(), recorded.error().message);
  const auto measured = load(to, options);
  REQUIRE(measured.ok());
  const auto stack = stack_of({"eight_bit_optimizer", {}});
  const auto prediction = predict(*recorded, stack);
  REQUIRE_MESSAGE(prediction.ok(), prediction.error().message);
  const double before = static_cast<double>(peak_of(recorded->graph())) / 0x1p30;
  const double predicted = static_cast<double>(peak_of(prediction->graph)) / 0x1p30;
  const double truth = static_cast<double>(peak_of(measured->graph())) / 0x1p30;
  MESSAGE(prediction->applied[0].notes.front());
  MESSAGE("AdamW ", before, " GiB -> 8-bit ", predicted, " GiB predicted, ", truth,
          " GiB measured");
  CHECK(std::abs(before - 2.447) < 0.001);
  CHECK(std::abs(truth - 1.887) < 0.001);
  CHECK(std::abs(predicted / truth - 1) < 0.01);
}

}  // namespace
}  // namespace foretrace
