// A run read into a program and emitted again: the same tasks at the same times, the same memory,
// and read again the same program.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "apps/session/recording/load.h"
#include "models/jobs/recordings/recorded_program.h"
#include "models/whatifs/what_if.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/links.h"
#include "tests/apps/questions/answers_support.h"
#include "tests/configs.h"
#include "tests/laws/training_run.h"
#include "tests/sim/graph/random_change.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& parallel;
}

using namespace foretrace;

namespace {

RecordedProgram program_of(const TaskGraph& graph) {
  return read_program(editing::KernelEditor({graph, nullptr, no_catalogue()}));
}

void check_tasks(const TaskGraph& graph, const TaskGraph& again) {
  CHECK(again.columns().lane == graph.columns().lane);
  CHECK(again.columns().work == graph.columns().work);
  CHECK(again.columns().kind == graph.columns().kind);
  CHECK(again.columns().phase == graph.columns().phase);
  CHECK(again.columns().layer == graph.columns().layer);
  CHECK(again.columns().step == graph.columns().step);
  CHECK(again.columns().provenance == graph.columns().provenance);
  CHECK(again.topology().dependency_count() == graph.topology().dependency_count());
  CHECK(again.topology().launch_order_fixed == graph.topology().launch_order_fixed);
}

void check_memory(const TaskGraph& graph, const Timeline& timeline, const TaskGraph& again,
                  const Timeline& after) {
  const auto before = track_memory(graph, timeline);
  const auto curves = track_memory(again, after);
  REQUIRE(curves.size() == before.size());
  for (std::size_t i = 0; i < curves.size(); ++i) {
    CHECK(curves[i].peak_bytes == before[i].peak_bytes);
    CHECK(curves[i].end_bytes == before[i].end_bytes);
    CHECK(std::equal(curves[i].points.begin(), curves[i].points.end(), before[i].points.begin(),
                     before[i].points.end(), [](const MemoryPoint& a, const MemoryPoint& b) {
                       return a.time_ns == b.time_ns && a.live_bytes == b.live_bytes &&
                              a.task == b.task && a.tensor == b.tensor;
                     }));
  }
}

void check_program(const TaskGraph& graph) {
  const RecordedProgram program = program_of(graph);
  CHECK(program.size() == graph.size());
  const auto again = graph_of(program);
  REQUIRE_MESSAGE(again.ok(), again.error().message);
  REQUIRE(again->size() == graph.size());
  check_tasks(graph, *again);
  const Timeline timeline = simulate(graph);
  const Timeline after = simulate(*again);
  CHECK(after.points == timeline.points);
  check_memory(graph, timeline, *again, after);
  const RecordedProgram second = program_of(*again);
  CHECK(second.blocks == program.blocks);
  CHECK(second.visits == program.visits);
  CHECK(second.turns == program.turns);
  CHECK(second.duration_ns == program.duration_ns);
  CHECK(second.segment_ns == program.segment_ns);
  CHECK(second.lag_ns == program.lag_ns);
  CHECK(second.boundary.size() == program.boundary.size());
}

/// False: the file is no recording, or not of tasks.
bool check_file(const std::string& file) {
  CAPTURE(file);
  const auto recording = load(file, {.catalogue = test::shipped()});
  if (!recording.ok()) return false;
  check_program(recording->graph());
  return true;
}

std::size_t check_folder(const std::string& folder, std::uintmax_t most_bytes) {
  std::size_t found = 0;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().string();
    const bool is_trace = name.ends_with(".ftr.gz") || name.ends_with(".json.gz") ||
                          name.ends_with(".json") || name.ends_with(".sqlite");
    if (is_trace && entry.file_size() <= most_bytes) files.push_back(name);
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) found += check_file(file) ? 1 : 0;
  return found;
}

/// 1F1B with four micro-batches per stage.
Result<TaskGraph> staged(const Recording& recording, const std::string& stages) {
  const std::vector<std::pair<std::string, std::string>> given = {{"pipeline", stages},
                                                                  {"cluster", "dgx_h100"}};
  FORETRACE_TRY(const auto params,
                ParamValues::parse("parallel", what_ifs::parallel.params, given));
  const WhatIfInput input{recording.graph(), nullptr, recording.catalogue()};
  FORETRACE_TRY(const Change change, what_ifs::parallel.apply(input, params));
  FORETRACE_TRY(Committed committed, commit(recording.graph(), change, Checks::all));
  return std::move(committed.graph);
}

}  // namespace

TEST_CASE("law: a random run read as a program and emitted again is the same run") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    test::Choices choices(seed);
    const auto graph = test::TrainingRun(choices).build();
    REQUIRE(graph.ok());
    check_program(*graph);
  }
}

TEST_CASE("law: a random graph of several ranks, threads and streams is a program, too") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    test::Choices choices(seed);
    check_program(test::RandomGraph(choices, {}).build());
  }
}

TEST_CASE("law: recordings read as programs and emitted again are the same runs") {
  CHECK(check_folder(FORETRACE_SOURCE_DIR "/examples/traces", 4U << 20U) > 30);
}

TEST_CASE("law: real traces read as programs and emitted again are the same runs") {
  if (!std::filesystem::exists(FORETRACE_SHARED_DIR "/traces")) {
    MESSAGE("skipped: no real traces");
    return;
  }
  CHECK(check_folder(FORETRACE_SHARED_DIR "/traces", 2U << 20U) > 10);
}

TEST_CASE("law: stages of a recording free what they make, and hold what is in flight") {
  for (const char* file : {"demo_generated_cnn.json.gz", "h200/gpt2.baseline.ftr.gz"}) {
    CAPTURE(file);
    const auto recording = load(std::string(FORETRACE_SOURCE_DIR "/examples/traces/") + file,
                                {.catalogue = test::shipped()});
    REQUIRE(recording.ok());
    const TaskGraph& graph = recording->graph();
    const auto alone = track_memory(graph, simulate(graph));
    REQUIRE(alone.size() == 1);
    for (const std::string_view text : {"stages=2", "stages=4"}) {
      CAPTURE(text);
      const std::string stages(text.substr(7));
      const auto run = staged(*recording, stages);
      REQUIRE_MESSAGE(run.ok(), run.error().message);
      CHECK(run->topology().launch_order_fixed);
      const auto curves = track_memory(*run, simulate(*run));
      REQUIRE(curves.size() == std::stoul(stages));
      double held = 0;
      for (const MemoryCurve& curve : curves) {
        const auto peak = static_cast<double>(curve.peak_bytes - curve.base_bytes);
        const auto left = static_cast<double>(curve.end_bytes - curve.base_bytes);
        CHECK(left < 0.05 * static_cast<double>(alone[0].peak_bytes));
        // Stage s has as many micro-batches in flight as stages from it on.
        const auto in_flight = std::stod(stages) - curve.rank;
        CHECK(peak < 1.05 * in_flight * static_cast<double>(alone[0].peak_bytes));
        held += static_cast<double>(curve.base_bytes);
      }
      CHECK(held >= 0.9 * static_cast<double>(alone[0].base_bytes));
    }
  }
}

TEST_CASE("law: the stages of a pipeline share a pass, CPU time too, and none of it goes") {
  const auto slope_ns = [](const Session& session, std::vector<std::string> texts,
                           const std::string& last) {
    texts.push_back(last);
    std::array<std::int64_t, 2> steps{};
    for (const int passes : {4, 12}) {
      texts.back() = last + std::to_string(passes);
      const auto answer = session.ask(test::stack_of(texts));
      REQUIRE_MESSAGE(answer.ok(), answer.error().message);
      steps[passes == 4 ? 0 : 1] = answer->step_ns();
    }
    return static_cast<double>(steps[1] - steps[0]) / 8;
  };
  // The GPU is the limit of the first, the CPU of the second: samples are so few.
  for (const char* batch : {"batch_size:factor=0.5", "batch_size:factor=0.03125"}) {
    CAPTURE(batch);
    const Session session =
        test::loaded(FORETRACE_SOURCE_DIR "/examples/traces/demo_generated_cnn.json.gz").session;
    const double alone = slope_ns(session, {batch}, "gradient_accumulation:load=false,steps=");
    const double staged =
        slope_ns(session, {batch}, "parallel:cluster=dgx_a100,pipeline=2,micro_batches=");
    CHECK(2 * staged > 0.99 * alone);
    CHECK(staged < alone);
  }
}

TEST_CASE("equal layers of a recorded transformer are one block") {
  const auto recording =
      load(FORETRACE_SOURCE_DIR "/examples/traces/h100_host/bert-large.baseline.ftr.gz",
           {.catalogue = test::shipped()});
  REQUIRE(recording.ok());
  const RecordedProgram program = program_of(recording->graph());
  std::vector<std::uint32_t> blocks;
  std::size_t visits = 0;
  for (const RecordedVisit& visit : program.visits) {
    if (visit.part.role != PartRole::forward) continue;
    ++visits;
    blocks.push_back(visit.block);
  }
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  CAPTURE(visits);
  CHECK(visits >= 24);
  CHECK(4 * blocks.size() < visits);
}
