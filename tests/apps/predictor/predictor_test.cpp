#include "apps/predictor/predictor.h"

#include <array>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "apps/session/predict.h"
#include "apps/session/recording/load.h"
#include "apps/session/throughput.h"
#include "tests/apps/support/program.h"
#include "tests/configs.h"

namespace foretrace {
namespace {

Predictor demo() {
  auto predictor = Predictor::load(test::demo_trace, {.catalogue = test::shipped()});
  REQUIRE(predictor.ok());
  return std::move(*predictor);
}

Recording recorded() {
  auto recording = load(test::demo_trace, {.catalogue = test::shipped()});
  REQUIRE(recording.ok());
  return std::move(*recording);
}

/// What the driver answers to one what-if.
std::int64_t asked(const Recording& recording, const WhatIfSpec& spec) {
  const auto what_if = check_what_if(spec);
  REQUIRE(what_if.ok());
  const std::array<WhatIf, 1> stack = {*what_if};
  const auto prediction = predict(recording, stack);
  REQUIRE(prediction.ok());
  return prediction->run.answer.step_ns;
}

}  // namespace

TEST_CASE("predictor: without a change it answers what a replay does") {
  const Predictor job = demo();
  const auto replay = foretrace::replay(recorded());
  REQUIRE(replay.ok());
  const auto step = job.predict();
  REQUIRE(step.ok());
  CHECK(step->step_ns == replay->run.answer.step_ns);
  CHECK(step->step_ns == job.step_ns());
  CHECK(step->low_ns <= step->step_ns);
  CHECK(step->high_ns >= step->step_ns);
  CHECK(step->memory_bytes > 0);
  CHECK(step->fits);
}

TEST_CASE("predictor: factors are exactly what the what-if scale does to the same tasks") {
  const Recording recording = recorded();
  const Predictor job = demo();
  for (const double factor : {0.01, 0.5, 1.7, 20.0}) {
    CAPTURE(factor);
    std::vector<WhatIf> stack;
    for (const char* const kind : {"kind=kernel", "kind=set"}) {
      const auto scale =
          check_what_if({"scale", {{"select", kind}, {"factor", std::to_string(factor)}}});
      REQUIRE(scale.ok());
      stack.push_back(*scale);
    }
    const auto asked_for = predict(recording, stack);
    REQUIRE(asked_for.ok());
    const auto step = job.predict({.compute = factor});
    REQUIRE(step.ok());
    CHECK(step->step_ns == asked_for->run.answer.step_ns);
  }
}

TEST_CASE("predictor: an accelerator is what the what-if accelerator_swap makes of it") {
  const std::int64_t swapped = asked(recorded(), swap_to("h100_sxm"));
  const auto step = demo().predict({.accelerator = "h100_sxm"});
  REQUIRE(step.ok());
  CHECK(step->step_ns == swapped);
}

TEST_CASE("predictor: threads ask one predictor and get the same answers") {
  const Predictor job = demo();
  std::vector<std::int64_t> alone;
  for (int i = 0; i < 16; ++i) {
    alone.push_back(job.predict({.compute = 0.25 + 0.1 * i, .host = 1 + 0.05 * i})->step_ns);
  }
  const Predictor fresh = demo();
  std::array<std::vector<std::int64_t>, 4> together;
  std::vector<std::thread> threads;
  for (auto& answers : together) {
    threads.emplace_back([&] {
      for (int i = 0; i < 16; ++i) {
        answers.push_back(
            fresh.predict({.compute = 0.25 + 0.1 * i, .host = 1 + 0.05 * i})->step_ns);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& answers : together) CHECK(answers == alone);
}

TEST_CASE("predictor: places are made by several threads at once, each once, mistakes by none") {
  const std::vector<std::string> products = {"h100_sxm", "v100_sxm2_16gb", "h100_sxn", "t4"};
  const auto ask = [](const Predictor& job, const std::string& product) {
    const auto step = job.predict({.accelerator = product, .compute = 0.75});
    return step.ok() ? step->step_ns : -1;
  };
  std::vector<std::int64_t> alone;
  const Predictor first = demo();
  for (const std::string& product : products) alone.push_back(ask(first, product));
  REQUIRE(alone[2] == -1);
  const Predictor fresh = demo();
  std::array<std::vector<std::int64_t>, 4> together;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < together.size(); ++t) {
    threads.emplace_back([&, t] {
      together[t].resize(products.size());
      for (std::size_t i = 0; i < 3 * products.size(); ++i) {
        const std::size_t which = (i + t) % products.size();
        together[t][which] = ask(fresh, products[which]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& answers : together) CHECK(answers == alone);
}

TEST_CASE("predictor: an answer does not depend on what the thread was asked before") {
  const Predictor job = demo();
  const Predictor other = demo();  // another job, and other places, in the same thread
  const std::vector<JobPlacement> asked = {
      {.compute = 0.5},
      {.compute = 0.5, .host = 2},
      {.accelerator = "h100_sxm", .compute = 0.5, .host = 2},
      {.copies = 0, .communication = 3},
      {.host = 0.25},
      {.compute = 1, .copies = 1, .host = 1},
      {.accelerator = "h100_sxm", .host = 0.25},
      {.compute = 0},
      {.compute = 1.5, .copies = 1.5, .communication = 1.5, .host = 1.5},
      {.compute = 0.5}};
  for (const JobPlacement& placement : asked) {
    std::int64_t fresh = 0;
    std::thread([&] { fresh = job.predict(placement)->step_ns; }).join();
    CHECK(job.predict(placement)->step_ns == fresh);
    CHECK(other.predict(placement)->step_ns == fresh);
  }
}

TEST_CASE("predictor: a job does not run on fewer ranks, nor on more than a machine has") {
  const auto job =
      Predictor::load(FORETRACE_SOURCE_DIR "/tests/fixtures/job", {.catalogue = test::shipped()});
  REQUIRE_MESSAGE(job.ok(), (job.ok() ? "" : job.error().message));
  const auto fewer = job->predict({.accelerators = 1});
  REQUIRE_FALSE(fewer.ok());
  CHECK(fewer.error().code == ErrorCode::no_match);
  CHECK(job->predict({.accelerators = 4})->step_ns == job->step_ns());
  const std::vector<std::string> products = {"a100_sxm_80gb"};
  const std::vector<std::uint32_t> counts = {1, 1000000};
  const auto rates = demo().throughputs(products, counts);
  REQUIRE_MESSAGE(rates.ok(), (rates.ok() ? "" : rates.error().message));
  CHECK((*rates)[0] == doctest::Approx(1));
  CHECK((*rates)[1] == 0);
}

TEST_CASE("predictor: a step says the speedup and the time ratio that every answer says") {
  for (const std::int64_t own : {0, 1, 80, 100}) {
    for (const std::int64_t step : {0, 1, 50, 160}) {
      const StepPrediction there = {.step_ns = step, .samples = 2};
      CHECK(there.speedup(own) == speedup_of(own, step, 2));
      CHECK(there.time_ratio(own) == time_ratio_of(own, step));
      CHECK(there.speedup(own) * there.time_ratio(own) == doctest::Approx(2));
    }
  }
}

TEST_CASE("predictor: throughputs are speedups, by accelerator and count") {
  const Predictor job = demo();
  const std::vector<std::string> products = {"a100_sxm_80gb", "v100_sxm2_16gb"};
  const std::vector<std::uint32_t> counts = {1, 4};
  const auto rates = job.throughputs(products, counts);
  REQUIRE(rates.ok());
  REQUIRE(rates->size() == 4);
  CHECK((*rates)[0] == doctest::Approx(1));
  CHECK((*rates)[1] > 2);   // four accelerators do more than two,
  CHECK((*rates)[1] <= 4);  // and not more than four
  CHECK((*rates)[2] < 1);   // a V100 is slower than an A100
}

TEST_CASE("predictor: two jobs on one device are each slower than alone, and no faster than half") {
  const Predictor job = demo();
  for (const Sharing sharing : {Sharing::time_slices, Sharing::mps, Sharing::mig}) {
    const auto both = Predictor::corun(job, job, sharing);
    REQUIRE(both.ok());
    CHECK(both->first_share <= 1);
    CHECK(both->first_share >= (sharing == Sharing::mig ? 3.0 / 7 : 0.45));
    CHECK(both->first_share == doctest::Approx(both->second_share).epsilon(0.01));
  }
}

TEST_CASE("predictor: time slices cost a job that leaves its device idle less") {
  // At a tenth of the kernels' time the device mostly waits for the host.
  const Predictor job = demo();
  const auto busy = Predictor::corun(job, job, Sharing::time_slices);
  const auto idle = Predictor::corun(job, job, Sharing::time_slices, {.compute = 0.1});
  REQUIRE(busy.ok());
  REQUIRE(idle.ok());
  CHECK(idle->first_share > busy->first_share);
}

TEST_CASE("predictor: a scenario is asked for other clusters and more accelerators") {
  const auto job =
      Predictor::load("configs/scenarios/gpt3_175b_selene.json", {.catalogue = test::shipped()});
  REQUIRE(job.ok());
  const auto twice = job->predict({.accelerators = 128});
  REQUIRE(twice.ok());
  CHECK(twice->step_ns < job->step_ns());
  const auto odd = job->predict({.accelerators = 100});
  REQUIRE_FALSE(odd.ok());
  CHECK(odd.error().message.find("expected a multiple of 64") != std::string::npos);
  CHECK_FALSE(job->predict({.compute = 2}).ok());
}

TEST_CASE("predictor: a restart saves and loads parameters and states of the optimizer once") {
  const auto job =
      Predictor::load("configs/scenarios/gpt3_175b_selene.json", {.catalogue = test::shipped()});
  REQUIRE(job.ok());
  const auto cost = job->restart_cost(
      {.write_bytes_per_s = 1e9, .read_bytes_per_s = 2e9, .start_ns = 5'000'000'000});
  REQUIRE(cost.ok());
  // 175 billion parameters of 2 bytes and 12 bytes of states.
  CHECK(static_cast<double>(cost->state_bytes) == doctest::Approx(175e9 * 14).epsilon(0.01));
  CHECK(static_cast<double>(cost->save_ns) ==
        doctest::Approx(static_cast<double>(cost->state_bytes)));
  CHECK(static_cast<double>(cost->load_ns) ==
        doctest::Approx(5e9 + static_cast<double>(cost->state_bytes) / 2));
  CHECK_FALSE(job->restart_cost({}).ok());
  CHECK_FALSE(job->restart_cost({.write_bytes_per_s = 1, .read_bytes_per_s = -1}).ok());
  const auto recorded_cost =
      demo().restart_cost({.write_bytes_per_s = 1e9, .read_bytes_per_s = 1e9});
  if (recorded_cost.ok()) {
    CHECK(recorded_cost->state_bytes > 0);
    CHECK(recorded_cost->save_ns == recorded_cost->load_ns);
  } else {
    CHECK(recorded_cost.error().message.find("expected one with memory") != std::string::npos);
  }
}

TEST_CASE("predictor: mistakes name what was wrong") {
  const Predictor job = demo();
  const auto product = job.predict({.accelerator = "h100_sxn"});
  REQUIRE_FALSE(product.ok());
  CHECK(product.error().message.find("did you mean 'h100_sxm'") != std::string::npos);
  const auto factor = job.predict({.compute = -1});
  REQUIRE_FALSE(factor.ok());
  CHECK(factor.error().message == "placement: compute: got -1, expected a factor from 0 to 1e6");
  CHECK_FALSE(Predictor::load("no_such_file.json", {.catalogue = test::shipped()}).ok());
}

}  // namespace foretrace
