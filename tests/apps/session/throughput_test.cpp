#include "apps/session/throughput.h"

#include <array>

#include <doctest/doctest.h>

#include "apps/questions/search/ranking.h"
#include "apps/session/predict.h"
#include "tests/apps/questions/answers_support.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace {
namespace {

/// Kernel "k" takes 1.5 times as long, for twice the samples.
Result<Change> double_batch(const WhatIfInput& scenario, const ParamValues& /*values*/) {
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
  WhatIfInfo info{};
  info.name = "double_batch";
  info.apply = double_batch;
  const std::array<WhatIf, 2> stack = {{{&info, {}}, {&info, {}}}};
  const Result<Prediction> prediction = predict(recording, stack);
  REQUIRE(prediction.ok());
  CHECK(prediction->samples == 4);
  const Result<Run> baseline = simulate_run(recording.graph());
  const auto throughput = throughput_of(0, *baseline, *prediction);
  REQUIRE(throughput);
  CHECK(throughput->ratio == doctest::Approx(4 * 100 / 225.0));
  CHECK_FALSE(throughput->now);  // no shapes, no batch
}

TEST_CASE("throughput: what-ifs that leave samples alone have none") {
  const Recording recording = recording_of("s:k(100)");
  const Result<Prediction> prediction = predict(recording, {});
  REQUIRE(prediction.ok());
  CHECK_FALSE(throughput_of(8, prediction->run, *prediction));
}

TEST_CASE("throughput: of a recording with shapes in samples per second") {
  const auto run = test::loaded(test::demo_memory_trace);
  const std::int64_t batch = recorded_batch(run.recording);
  REQUIRE(batch > 0);
  const auto stack = test::stack_of({"batch_size:factor=2"});
  const Result<Answer> answer = run.session.ask(stack);
  REQUIRE(answer.ok());
  const auto& throughput = answer->throughput();
  REQUIRE(throughput);
  REQUIRE(throughput->now);
  CHECK(*throughput->now == doctest::Approx(static_cast<double>(batch) * 1e9 /
                                            static_cast<double>(run.replay.run.answer.step_ns)));
  CHECK(*throughput->predicted == doctest::Approx(2 * static_cast<double>(batch) * 1e9 /
                                                  static_cast<double>(answer->step_ns())));
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
}  // namespace foretrace
