#include "apps/extras/frames/frames.h"

#include <cmath>

#include <doctest/doctest.h>

#include "tests/configs.h"

using namespace foretrace::streams;

namespace {

FrameScenario one_model(double per_second) {
  return {"one", {{.name = "a", .per_second = per_second}}};
}

}  // namespace

TEST_CASE("frames: half a point at the deadline, all of it a millisecond before") {
  CHECK(real_time_score(0, 15) == 0.5);
  CHECK(real_time_score(-1, 15) > 0.999999);
  CHECK(real_time_score(1, 15) < 1e-6);
  CHECK(real_time_score(0.1, 15) == doctest::Approx(1 / (1 + std::exp(1.5))));
}

TEST_CASE("frames: all in time and without energy is 100; energy takes its share") {
  const auto free = run_frames(one_model(10), {{"e", {{"a", 5, 0}}}}, {});
  REQUIRE(free.ok());
  CHECK(free->models[0].frames == 10);
  CHECK(free->score == doctest::Approx(100));
  // 300 of 1500 mJ per frame: 80 %.
  CHECK(run_frames(one_model(10), {{"e", {{"a", 5, 300}}}}, {})->score == doctest::Approx(80));
}

TEST_CASE("frames: done exactly when it is due is half a point") {
  // Period 100 ms: arrives at 100, due at 200, takes 100.
  const auto half = run_frames(one_model(10), {{"e", {{"a", 100, 0}}}}, {.seconds = 1});
  CHECK(half->models[0].real_time == doctest::Approx(0.5));
  CHECK(half->models[0].dropped == 0);
  CHECK(half->score == doctest::Approx(50));
}

TEST_CASE("frames: what has not begun when it is due is dropped") {
  // Takes 250 ms: the frame of 100 runs to 350; those of 200 (due 300) and 300 (due 400): the first
  // is dropped, the second begins at 350 and runs to 600, and so on. Frames of 500 ms: 4 of them.
  const auto score = run_frames(one_model(10), {{"e", {{"a", 250, 0}}}}, {.seconds = 0.4});
  REQUIRE(score.ok());
  const ModelScore& model = score->models[0];
  // Arrivals 100, 200, 300, 400; dropped: 200 (due 300) and 400 (due 500).
  CHECK(model.frames == 4);
  CHECK(model.dropped == 2);
  CHECK(model.late == 2);
  CHECK(model.experience == doctest::Approx(0.5));
  CHECK(score->score == doctest::Approx(0).epsilon(1e-3));
}

TEST_CASE("frames: a model follows another, and is dropped with it") {
  const FrameScenario chain{
      "chain", {{.name = "a", .per_second = 10}, {.name = "b", .per_second = 10, .after = "a"}}};
  const auto fine = run_frames(chain, {{"e", {{"a", 10, 0}, {"b", 10, 0}}}}, {});
  CHECK(fine->models[1].frames == 10);
  CHECK(fine->score == doctest::Approx(100));
  const auto slow = run_frames(chain, {{"e", {{"a", 250, 0}, {"b", 1, 0}}}}, {.seconds = 0.4});
  CHECK(slow->models[1].dropped >= slow->models[0].dropped);
}

TEST_CASE("frames: periods are whole milliseconds where the published code has them so") {
  // 60 per second: 16 ms, 62 frames in a second; else 16.67 ms and 60 of them.
  const std::vector<FrameEngine> engine = {{"e", {{"a", 1, 0}}}};
  CHECK(run_frames(one_model(60), engine, {})->models[0].frames == 62);
  for (const double rate : {15.0, 30.0, 60.0, 120.0, 240.0, 7.0}) {
    for (const double seconds : {1.0, 3.0}) {
      const auto score =
          run_frames(one_model(rate), engine, {.seconds = seconds, .whole_milliseconds = false});
      CHECK(score->models[0].frames == static_cast<std::int64_t>(rate * seconds));
    }
  }
}

TEST_CASE("frames: dispatch takes the fastest, the thriftiest, the best product, the least used") {
  const std::vector<FrameEngine> engines = {
      {"fast", {{"a", 2, 90}}}, {"thrifty", {{"a", 8, 20}}}, {"middle", {{"a", 4, 30}}}};
  const auto energy = [&](Dispatch dispatch) {
    return run_frames(one_model(10), engines, {.dispatch = dispatch})->models[0].energy;
  };
  CHECK(energy(Dispatch::latency) == doctest::Approx(1 - 90.0 / 1500));
  CHECK(energy(Dispatch::energy) == doctest::Approx(1 - 20.0 / 1500));
  CHECK(energy(Dispatch::product) == doctest::Approx(1 - 30.0 / 1500));
  CHECK(energy(Dispatch::balanced) < energy(Dispatch::energy));
}

TEST_CASE("frames: every scenario that is shipped runs, and faster engines score better") {
  const auto scenarios = find_frame_scenarios(*foretrace::test::shipped(), "xrbench");
  REQUIRE_MESSAGE(scenarios.ok(), scenarios.error().message);
  CHECK(scenarios->size() == 7);
  for (const FrameScenario& scenario : *scenarios) {
    double before = -1;
    for (const double ms : {30.0, 6.0, 1.0}) {
      FrameEngine engine{"e", {}};
      for (const FrameModel& model : scenario.models) engine.costs.push_back({model.name, ms, 0});
      const auto score = run_frames(scenario, {engine, engine}, {.seconds = 2, .seed = 1});
      REQUIRE(score.ok());
      CHECK(score->score >= before);
      before = score->score;
    }
    CHECK(before == doctest::Approx(100));
  }
}

TEST_CASE("frames: mistakes are told") {
  const auto none = run_frames(one_model(10), {{"e", {{"b", 1, 0}}}}, {});
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().message.find("no engine has a latency of a") != std::string::npos);
  const auto unknown = parse_frame_scenarios(
      R"({"schema": "foretrace.frame_scenarios/1", "source": "x", "scenarios": [
          {"name": "s", "models": [{"model": "a", "per_second": 1, "after": "z"}]}]})",
      "mine.json");
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().message.find("'z'") != std::string::npos);
}
