#include "apps/driver/throughput.h"

#include <array>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "apps/driver/analysis.h"
#include "apps/driver/answers/ranking.h"
#include "apps/driver/predict.h"
#include "apps/driver/sweep/run.h"
#include "apps/driver/sweep/store/select.h"
#include "apps/report/pages.h"
#include "apps/report/writers.h"
#include "tests/apps/driver/answers/answers_support.h"
#include "tests/apps/support/program.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace::driver {
namespace {

/// Kernel "k" takes 1.5 times as long, for twice the samples.
Result<Change> double_batch(const Scenario& scenario, const ParamValues& /*values*/) {
  Change change;
  const TaskId k = test::task(scenario.graph, "k");
  change.durations.push_back(
      {k, scenario.graph.duration_ns(k) * 3 / 2, Provenance::scaled, 1.0F, 1.0F});
  change.samples = 2;
  return change;
}

Recording recording_of(std::string_view text) {
  Recording recording;
  recording.built.graph = test::graph(text);
  return recording;
}

TEST_CASE("throughput: samples of a stack multiply, and the ratio is per sample") {
  const Recording recording = recording_of("s:k(100)");
  OptimizationInfo info{};
  info.name = "double_batch";
  info.apply = double_batch;
  const std::array<WhatIf, 2> stack = {{{&info, {}}, {&info, {}}}};
  const Result<Prediction> prediction = predict(recording, stack);
  REQUIRE(prediction.ok());
  CHECK(prediction->samples == 4);
  const Result<Run> baseline = simulate_run(recording.graph());
  const auto throughput = throughput_of(recording, *baseline, *prediction);
  REQUIRE(throughput);
  CHECK(throughput->ratio == doctest::Approx(4 * 100 / 225.0));
  CHECK_FALSE(throughput->now);  // no shapes, no batch
}

TEST_CASE("throughput: what-ifs that leave samples alone have none") {
  const Recording recording = recording_of("s:k(100)");
  const Result<Prediction> prediction = predict(recording, {});
  REQUIRE(prediction.ok());
  CHECK_FALSE(throughput_of(recording, prediction->run, *prediction));
}

TEST_CASE("throughput: of a recording with shapes in samples per second") {
  const auto run = test::loaded(test::demo_memory_trace);
  const std::int64_t batch = recorded_batch(run.recording);
  REQUIRE(batch > 0);
  const auto stack = test::stack_of({"batch_size:factor=2"});
  const Result<Prediction> prediction = predict(run.recording, stack);
  REQUIRE(prediction.ok());
  const auto throughput = throughput_of(run.recording, run.replay.run, *prediction);
  REQUIRE(throughput);
  REQUIRE(throughput->now);
  CHECK(*throughput->now == doctest::Approx(static_cast<double>(batch) * 1e9 /
                                            static_cast<double>(run.replay.run.answer.step_ns)));
  CHECK(*throughput->predicted ==
        doctest::Approx(2 * static_cast<double>(batch) * 1e9 /
                        static_cast<double>(prediction->run.answer.step_ns)));
}

/// What-ifs that change the work of a step, its time, or both, with settings that are drawn.
std::vector<std::string> drawn_stack(std::mt19937_64& random) {
  const auto below = [&random](std::uint64_t n) { return random() % n; };
  const std::vector<std::string> work = {
      fmt::format("batch_size:factor={}", 0.25 * static_cast<double>(1 + below(16))),
      fmt::format("gradient_accumulation:steps={}", 1 + below(8)),
      fmt::format("replicate:ranks={}", 2 + below(7)),
      fmt::format("parallel:data={},cluster=dgx_h100", 1U << (1 + below(3))),
      fmt::format("sequence_length:factor={}", 0.5 * static_cast<double>(1 + below(6))),
      "mu_two:models=2"};
  std::vector<std::string> stack = {work[below(work.size())]};
  if (below(2) == 0) {
    stack.push_back(
        fmt::format("scale:select='kind=kernel',factor={}", 0.5 + 0.1 * double(below(20))));
  }
  return stack;
}

/// What `whatif --json` says; null: it declines.
nlohmann::json document_of(const test::Loaded& run, const std::vector<std::string>& texts) {
  auto prediction =
      predict(run.recording, test::stack_of(texts), {.keeps_neutral = true}, &run.replay);
  if (!prediction.ok()) return nullptr;
  add_facts(run.recording, run.replay.run, *prediction);
  const auto before = analyse(run.recording.graph(), run.replay.run);
  const auto after = analyse(prediction->graph, prediction->run);
  REQUIRE(before.ok());
  REQUIRE(after.ok());
  return nlohmann::json::parse(report::json_of(report::result_page({.recording = run.recording,
                                                                    .replay = run.replay,
                                                                    .baseline = *before,
                                                                    .prediction = &*prediction,
                                                                    .predicted = &*after})));
}

/// Figures of a sweep over these stacks, by name; none where a point failed.
std::vector<nlohmann::json> swept(const std::string& trace, const std::string& folder,
                                  const std::vector<std::vector<std::string>>& stacks) {
  const nlohmann::json text = {
      {"schema", "foretrace.sweep/1"},
      {"trace", trace},
      {"apply", nlohmann::json::array()},
      {"axes", {{{"name", "stack"}, {"pointer", "/apply"}, {"values", stacks}}}}};
  const auto sweep = sweeping::parse_sweep(text.dump(), "law.json", "");
  REQUIRE_MESSAGE(sweep.ok(), sweep.error().message);
  const auto done = sweeping::run_sweep(*sweep, folder, {.catalogue = test::shipped()});
  REQUIRE_MESSAGE(done.ok(), done.error().message);
  const auto stored = sweeping::open_stored(folder);
  REQUIRE(stored.ok());
  std::vector<nlohmann::json> rows;
  const auto counts = sweeping::select_points(*stored, {}, [&](const auto& point) {
    nlohmann::json row;
    for (std::size_t i = 0; i < point.result.metrics.size(); ++i) {
      row[std::string(sweep->metrics[i].name)] = point.result.metrics[i];
    }
    rows.push_back(std::move(row));
    return ok_status();
  });
  REQUIRE(counts.ok());
  return rows;
}

TEST_CASE("law: whatif and sweep say one speedup, and speedup x time_ratio is the work of a step") {
  std::mt19937_64 random(30);
  std::size_t other_work = 0;
  for (const char* const trace : {"examples/traces/demo_generated_cnn_memory.json.gz",
                                  "examples/traces/h100/gpt2.sdpa.ftr.gz"}) {
    const std::string path = std::filesystem::absolute(trace).string();
    const test::Loaded run = test::loaded(path);
    std::vector<std::vector<std::string>> stacks(24);
    for (auto& stack : stacks) stack = drawn_stack(random);
    const auto rows = swept(path, test::scratch_file("speedups"), stacks);
    REQUIRE(rows.size() == stacks.size());
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      CAPTURE(fmt::format("{}", fmt::join(stacks[i], " ")));
      const nlohmann::json document = document_of(run, stacks[i]);
      CHECK(document.is_null() == rows[i].is_null());
      if (document.is_null() || rows[i].is_null()) continue;
      CHECK(rows[i]["step_ns"] == document["predicted"]["step_ns"]);
      CHECK(rows[i]["speedup"] == document["speedup"]);
      CHECK(rows[i]["time_ratio"] == document["time_ratio"]);
      const nlohmann::json& predicted = document["predicted"];
      const double work =
          predicted.contains("throughput") ? predicted["throughput"]["samples"].get<double>() : 1;
      const auto speedup = document["speedup"].get<double>();
      CHECK(speedup * document["time_ratio"].get<double>() == doctest::Approx(work));
      other_work += work == 1 ? 0 : 1;
    }
    std::filesystem::remove_all(test::scratch_file("speedups"));
  }
  CHECK(other_work >= 20);
}

TEST_CASE("ranking: by time per sample") {
  Ranked faster;
  faster.step_ns = 90;
  Ranked larger;
  larger.step_ns = 150;
  larger.samples = 2;  // 75 per sample
  CHECK(ranks_before(larger, faster, RankBy::time));
  CHECK_FALSE(ranks_before(faster, larger, RankBy::time));
}

}  // namespace
}  // namespace foretrace::driver
