// Hosts that were put in are found again, on runs that the product itself predicts.
#include "apps/serving/calibration/calibrate_engine.h"

#include <array>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "apps/serving/calibration/host_fit.h"
#include "apps/serving/serving.h"
#include "tests/configs.h"

using namespace foretrace;

namespace {

constexpr double step_us = 900;
constexpr double sequence_us = 35;

EngineSetup setup() {
  return {.engine = "vllm", .model = "llama3_8b", .cluster = {}, .accelerator = "h100_sxm"};
}

/// What a server with this host takes for a token.
BenchmarkRun served(std::uint32_t in_flight) {
  const std::string text = fmt::format(
      R"({{"schema": "foretrace.serving/1", "model": "llama3_8b", "engine": "vllm", "accelerator": "h100_sxm",
          "requests": {{"in_flight": {0}, "columns": ["input_tokens", "output_tokens"], "rows": [{1}]}}}})",
      in_flight, fmt::join(std::vector<std::string>(3 * in_flight, "[200, 64]"), ","));
  auto serving = parse_serving(*test::shipped(), text, "served");
  REQUIRE_MESSAGE(serving.ok(), serving.error().message);
  serving->options.host_step_ns = step_us * 1e3;
  serving->options.host_sequence_ns = sequence_us * 1e3;
  BenchmarkRun run;
  run.seconds = run_serving(*serving, false)->figures.token_s.mean;
  run.requests = 3 * in_flight;
  run.in_flight = in_flight;
  run.input = 200;
  run.output = 64;
  return run;
}

std::vector<MeasuredService> runs_of(std::initializer_list<std::uint32_t> in_flight) {
  std::vector<MeasuredService> runs;
  for (const std::uint32_t one : in_flight) runs.push_back({served(one), "made up"});
  return runs;
}

}  // namespace

TEST_CASE("calibrated engines: a host that was put in is found, and each run by the others") {
  const auto made = calibrate_engine(*test::shipped(), setup(), runs_of({1, 8, 32, 64}), 0);
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  CHECK(made->tells_sequences);
  CHECK(made->step_ns.typical == doctest::Approx(step_us * 1e3).epsilon(0.01));
  CHECK(made->sequence_ns.typical == doctest::Approx(sequence_us * 1e3).epsilon(0.01));
  CHECK(made->before.mean > 0.05);
  CHECK(made->held_back.rows == 4);
  CHECK(made->held_back.mean < 0.005);
  const auto engine = parse_serving_engine(made->text, "mine.json");
  REQUIRE_MESSAGE(engine.ok(), engine.error().message);
  CHECK(engine->host_sequence_ns.typical == doctest::Approx(sequence_us * 1e3).epsilon(0.01));
  CHECK(engine->rules.batched_tokens == 2048);
  CHECK(made->text.find("made up") != std::string::npos);
}

TEST_CASE("calibrated engines: one number of requests at a time tells the step alone") {
  const auto made = calibrate_engine(*test::shipped(), setup(), runs_of({8, 8}), 0);
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  CHECK_FALSE(made->tells_sequences);
  CHECK(made->sequence_ns.typical == 0);
  CHECK(made->step_ns.typical == doctest::Approx((step_us + 8 * sequence_us) * 1e3).epsilon(0.02));
  const auto single = calibrate_engine(*test::shipped(), setup(), runs_of({8}), 0);
  REQUIRE(single.ok());
  CHECK(single->held_back.rows == 0);
  CHECK_FALSE(single->errors.front().held_back.has_value());
}

TEST_CASE("calibrated engines: steps and whole runs of a batch tell the same host") {
  const auto times = [](BenchmarkFigure figure, double requests, double host_s) {
    BenchmarkRun run;
    run.figure = figure;
    run.requests = requests;
    run.input = 128;
    run.output = 33;
    run.seconds = 1;
    // As it is without a host, by the error of a run that takes a second.
    auto fit =
        calibrate_engine(*test::shipped(), setup(), std::vector{MeasuredService{run, "x"}}, 0);
    REQUIRE_MESSAGE(fit.ok(), fit.error().message);
    const double assumed = figure == BenchmarkFigure::step ? 0.5e-3 : 33 * 0.5e-3;
    run.seconds = 1 + fit->errors.front().before - assumed + host_s;
    return MeasuredService{run, "made up"};
  };
  const std::vector<MeasuredService> runs = {
      times(BenchmarkFigure::step, 4, 1e-3 + 4 * 20e-6),
      times(BenchmarkFigure::step, 64, 1e-3 + 64 * 20e-6),
      times(BenchmarkFigure::total, 4, 33 * (1e-3 + 4 * 20e-6))};
  const auto made = calibrate_engine(*test::shipped(), setup(), runs, 0);
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  CHECK(made->step_ns.typical == doctest::Approx(1e6).epsilon(0.01));
  CHECK(made->sequence_ns.typical == doctest::Approx(20e3).epsilon(0.01));
}

TEST_CASE("calibrated engines: the share of the memory gives the cache that was told") {
  for (const std::string name : {"vllm", "sglang", "trtllm"}) {
    CAPTURE(name);
    EngineSetup asked = setup();
    asked.engine = name;
    const auto made = calibrate_engine(*test::shipped(), asked, {}, 400'000);
    REQUIRE_MESSAGE(made.ok(), made.error().message);
    REQUIRE(made->memory_share.has_value());
    const auto engine = parse_serving_engine(made->text, "mine.json");
    REQUIRE(engine.ok());
    CHECK(engine->memory_share == doctest::Approx(*made->memory_share).epsilon(1e-3));
    const auto model = find_model(*test::shipped(), "llama3_8b").value();
    const auto alone = lone_accelerator(*test::shipped(), "h100_sxm").value();
    const auto framework = find_framework(*test::shipped(), engine->framework).value();
    ServedModel served;
    served.model = &model.transformer;
    served.cluster = alone.get();
    served.framework = &framework;
    const StepRules rules = engine->rules_on(alone->accelerator);
    const auto blocks = cache_blocks_of(StepCost(served), alone->accelerator,
                                        {engine->memory_share, engine->memory_share_of}, rules);
    CHECK(static_cast<double>(blocks) * rules.block_tokens ==
          doctest::Approx(400'000).epsilon(2e-3));
  }
  const auto none = calibrate_engine(*test::shipped(), setup(), {}, 40'000'000);
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().message.find("40000000 tokens") != std::string::npos);
}

TEST_CASE("calibrated engines: runs that lack something, or are none, are told") {
  const auto message = [](const BenchmarkRun& run) {
    const auto made =
        calibrate_engine(*test::shipped(), setup(), std::vector{MeasuredService{run, "a.json"}}, 0);
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().message.starts_with("a.json"));
    return made.error().message;
  };
  BenchmarkRun run;
  run.seconds = 1;
  CHECK(message(run).find("how many requests") != std::string::npos);
  run.requests = 4;
  CHECK(message(run).find("prompts and answers") != std::string::npos);
  run.input = run.output = 1;
  CHECK(message(run).find("one token") != std::string::npos);
  run.output = 1e9;
  CHECK(message(run).find("tokens to write") != std::string::npos);
  CHECK_FALSE(calibrate_engine(*test::shipped(), setup(), {}, 0).ok());
}

TEST_CASE("hosts: no time is below 0") {
  // Faster than the rest alone, and the less so the more sequences there are.
  const std::array<HostRow, 2> faster = {HostRow{1.2, 1e-6, 1e-6}, HostRow{1.1, 1e-6, 64e-6}};
  const HostFit fit = fit_host(faster, {5, 5});
  CHECK(fit.times.step_ns == 0);
  CHECK(fit.times.sequence_ns == 0);
  const std::array<HostRow, 2> falls = {HostRow{0.5, 1e-6, 1e-6}, HostRow{0.9, 1e-6, 64e-6}};
  CHECK(fit_host(falls, {}).times.sequence_ns == 0);
  CHECK(fit_host(falls, {}).times.step_ns == doctest::Approx(0.3e6));
}
