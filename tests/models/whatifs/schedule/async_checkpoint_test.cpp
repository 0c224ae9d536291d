#include "tests/models/training_job.h"

namespace foretrace::optimizations {
extern const OptimizationInfo async_checkpoint;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::TaskGraph;
using foretrace::optimizations::async_checkpoint;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::Given;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;

namespace {

// Steps of forward 4 ms, backward 5 ms and update 1 ms; another stream waits for each update.
TaskGraph training(int steps) {
  ToyRun run;
  const auto side = run.add_stream(9);
  for (int step = 0; step < steps; ++step) {
    run.kernel({.name = "fwd", .duration_ns = 4'000'000, .phase = Phase::forward});
    run.kernel({.name = "bwd", .duration_ns = 5'000'000, .phase = Phase::backward});
    const auto update =
        run.kernel({.name = "adam", .duration_ns = 1'000'000, .phase = Phase::update});
    run.bystander(side, update, 100'000);
  }
  run.synchronize();
  return run.build();
}

// 1 M parameters of 12 bytes: a snapshot takes 3 ms (and 2.0 us to set up), a write `storage`.
Given saving(const char* storage, const char* mode = "async", const char* every = "1") {
  return {{"parameters", "1e6"}, {"bytes", "12"}, {"bandwidth", "4 GB/s"}, {"pageable", "4 GB/s"},
          {"storage", storage},  {"mode", mode},  {"every", every}};
}

}  // namespace

TEST_CASE("async_checkpoint: a snapshot hides behind the next step, a blocking save does not") {
  const TaskGraph graph = training(3);
  CHECK(span_ns(graph) == 30'100'000);
  // Writing takes 4 ms and ends within the next step; the last one ends 3 + 4 ms after its update.
  const auto saved = after(graph, async_checkpoint, saving("3 GB/s"));
  CHECK(count_of(saved, "write checkpoint") == 3);
  CHECK(duration_of(saved, "write checkpoint") == 4'000'000);
  CHECK(span_ns(saved) == doctest::Approx(37e6).epsilon(0.001));
  // Blocking: three saves of 7 ms lie between the steps, and the other stream ends last.
  const auto blocked = after(graph, async_checkpoint, saving("3 GB/s", "blocking"));
  CHECK(span_ns(blocked) == doctest::Approx(51.1e6).epsilon(0.001));
}

TEST_CASE("async_checkpoint: saves that come faster than storage takes them hold up the update") {
  // Writing takes 24 ms: the second snapshot waits for it until 10 + 3 + 24 = 37 ms, the update of
  // the third step for the second snapshot until 40 ms. The third snapshot, from 64 on, takes 3 ms
  // and its write 24.
  const auto slow = after(training(3), async_checkpoint, saving("0.5 GB/s"));
  CHECK(span_ns(slow) == doctest::Approx(91e6).epsilon(0.001));
  // Every second step: saves after the first and the third.
  const auto rare = after(training(3), async_checkpoint, saving("0.5 GB/s", "async", "2"));
  CHECK(count_of(rare, "write checkpoint") == 2);
  CHECK(span_ns(rare) == doctest::Approx(64e6).epsilon(0.001));
  // A median step says nothing of it; the note does: (3 + 24) ms every second step.
  const auto told = apply_to(training(3), async_checkpoint, saving("0.5 GB/s", "blocking", "2"));
  REQUIRE(told.ok());
  CHECK(told->notes[0].find("in the mean they cost 13.50 ms a step") != std::string::npos);
}

TEST_CASE(
    "async_checkpoint: no update to save after, or nothing that tells its size, is declined") {
  ToyRun inference;
  inference.kernel({.name = "fwd", .duration_ns = 10});
  const auto declined =
      apply_to(inference.build(), async_checkpoint, {{"parameters", "1e6"}, {"storage", "1 GB/s"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
  const auto unknown = apply_to(training(2), async_checkpoint, {{"storage", "1 GB/s"}});
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == ErrorCode::missing_cost);
}

TEST_CASE(
    "async_checkpoint: where one rank saves, the others wait for it at their next collective") {
  const TaskGraph graph = foretrace::test::training_job(
      {.steps = 2, .reduces = {{.bytes = 4'000'000, .ns = 1'000'000, .after = 6}}});
  CHECK(span_ns(graph) == 24'000'000);
  // Rank 0 stands still for 7 ms after each update; rank 1 meets it in the second step.
  const auto blocked = after(graph, async_checkpoint, saving("3 GB/s", "blocking"));
  CHECK(count_of(blocked, "write checkpoint") == 2);
  CHECK(span_ns(blocked) == doctest::Approx(38e6).epsilon(0.001));
  auto all = saving("3 GB/s", "blocking");
  all.emplace_back("ranks", "all");
  CHECK(count_of(after(graph, async_checkpoint, all), "write checkpoint") == 4);
}
