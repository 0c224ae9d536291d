#include <cstdint>
#include <map>
#include <set>

#include "tests/models/training_job.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& async_checkpoint;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::TaskGraph;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::Given;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::async_checkpoint;

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
  // Copying takes 3 ms, writing 4, and both end within the step that they run beside.
  const auto saved = after(graph, async_checkpoint, saving("3 GB/s"));
  CHECK(count_of(saved, "write checkpoint") == 3);
  CHECK(duration_of(saved, "write checkpoint") == 4'000'000);
  CHECK(span_ns(saved) == doctest::Approx(30.1e6).epsilon(0.001));
  // Blocking: three saves of 7 ms lie between the steps, and the other stream ends last.
  const auto blocked = after(graph, async_checkpoint, saving("3 GB/s", "blocking"));
  CHECK(span_ns(blocked) == doctest::Approx(51.1e6).epsilon(0.001));
}

TEST_CASE("async_checkpoint: saves that come faster than storage takes them hold up the update") {
  // Writing takes 24 ms: every snapshot waits for the write before it, three times 3 + 24 ms;
  // then the program launches the last kernel of the other stream.
  const auto slow = after(training(3), async_checkpoint, saving("0.5 GB/s"));
  CHECK(span_ns(slow) == doctest::Approx(81.1e6).epsilon(0.001));
}

TEST_CASE("async_checkpoint: of saves that come every N-th step, every step carries its share") {
  // Half of 3 ms of copies and of 24 ms of writing in each of three steps; a median step with all
  // of it or nothing would say 37 or 10 ms.
  const auto blocked = after(training(3), async_checkpoint, saving("0.5 GB/s", "blocking", "2"));
  CHECK(count_of(blocked, "write checkpoint") == 3);
  CHECK(span_ns(blocked) == doctest::Approx(30.1e6 + 3 * 13.5e6).epsilon(0.001));
  const auto told = apply_to(training(3), async_checkpoint, saving("0.5 GB/s", "blocking", "2"));
  REQUIRE(told.ok());
  CHECK(told->notes[0].find("of one in 2 steps") != std::string::npos);
  // Beside the step: three times 1.5 ms of copies and 12 of writing.
  const auto rare = after(training(3), async_checkpoint, saving("0.5 GB/s", "async", "2"));
  CHECK(span_ns(rare) == doctest::Approx(40.6e6).epsilon(0.001));
  // A snapshot of 12 ms outlasts a pass of 9.1 ms by 2.9: half of that holds up each update, and
  // the kernel of the other stream, 0.1 ms, is part of the pass but for the first one.
  Given slow = saving("100 GB/s", "async", "2");
  slow[2].second = "1 GB/s";
  const auto held = after(training(3), async_checkpoint, slow);
  CHECK(span_ns(held) == doctest::Approx(30.1e6 + 1.5e6 + 2 * 1.55e6).epsilon(0.001));
}

TEST_CASE(
    "async_checkpoint: of a lone step the answer is the mean step, not step and save in turn") {
  CHECK(span_ns(training(1)) == 10'100'000);
  // 3 ms of copies and 24 of writing are longer than the step; 3 and 4 are not.
  const auto slow = after(training(1), async_checkpoint, saving("0.5 GB/s"));
  CHECK(count_of(slow, "write checkpoint") == 1);
  CHECK(span_ns(slow) == doctest::Approx(27.1e6).epsilon(0.001));
  const auto fast = after(training(1), async_checkpoint, saving("3 GB/s"));
  CHECK(span_ns(fast) == doctest::Approx(10.1e6).epsilon(0.001));
  // The update waits for a snapshot of 12 ms.
  Given copying = saving("100 GB/s");
  copying[2].second = "1 GB/s";
  CHECK(span_ns(after(training(1), async_checkpoint, copying)) ==
        doctest::Approx(13.1e6).epsilon(0.001));
  // Every rank of a job saves from its own device on.
  auto all = saving("0.5 GB/s");
  all.emplace_back("ranks", "all");
  const auto job =
      after(foretrace::test::training_job(
                {.steps = 1, .reduces = {{.bytes = 4'000'000, .ns = 1'000'000, .after = 6}}}),
            async_checkpoint, all);
  CHECK(count_of(job, "write checkpoint") == 2);
  CHECK(span_ns(job) == doctest::Approx(27e6).epsilon(0.001));
  std::set<std::int32_t> devices;
  for (std::size_t i = 0; i < job.size(); ++i) {
    const auto task = foretrace::make_id<foretrace::TaskId>(i);
    if (job.kind(task) == foretrace::TaskKind::copy) devices.insert(job.lane(task).device);
  }
  CHECK(devices.size() == 2);
}

TEST_CASE("async_checkpoint: it says how many parameters it counted, and from what") {
  ToyRun run;
  for (int step = 0; step < 2; ++step) {
    run.kernel({.name = "fwd", .duration_ns = 1'000'000});
    run.kernel({.name = "bwd", .duration_ns = 1'000'000, .phase = Phase::backward});
    // Two runs of kernels of one update, with a synchronization between them: 300 of 500 numbers.
    for (const char* shapes : {"[[100], [100]]", "[[300], [300]]"}) {
      for (const char* op : {"aten::mul_", "aten::addcdiv_"}) {
        run.kernel(
            {.duration_ns = 2'000, .operator_name = op, .shapes = shapes, .phase = Phase::update});
      }
      run.synchronize();
    }
  }
  const auto h100 = foretrace::test::toy_accelerator("h100_sxm");
  const auto told = apply_to(run.build(), async_checkpoint,
                             {{"storage", "1 GB/s"}, {"bandwidth", "4 GB/s"}}, &h100);
  REQUIRE_MESSAGE(told.ok(), told.error().message);
  CHECK(
      told->notes[0].find("0.0 MB, 0.0 M parameters (by the shapes of what one update touches) of "
                          "12 bytes (Adam, by the operators of its update)") != std::string::npos);
  std::int64_t written_ns = 0;
  for (const auto& insertion : told->inserted) {
    if (insertion.task.kind == foretrace::TaskKind::host) written_ns += insertion.task.duration_ns;
  }
  CHECK(written_ns == 2 * 400 * 12);  // two saves, at 1 byte a nanosecond
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

TEST_CASE("async_checkpoint: tables of fused lookups are saved by the rank that has them") {
  // 4 bytes of a number and 4 of its state, at 1 GB/s: 8 ms for rank 0, 16 ms for rank 1.
  const TaskGraph graph =
      foretrace::test::training_job({.steps = 2,
                                     .reduces = {{.bytes = 4'000'000, .ns = 1'000'000, .after = 6}},
                                     .table_numbers = {1'000'000, 2'000'000}});
  const auto told = apply_to(graph, async_checkpoint,
                             {{"storage", "1 GB/s"}, {"bandwidth", "25 GB/s"}, {"bytes", "4"}});
  REQUIRE_MESSAGE(told.ok(), told.error().message);
  CHECK(told->notes[0].find("and 3.0 M numbers in tables of fused lookups, 24.0 MB with their "
                            "states, on 2 ranks that save their own") != std::string::npos);
  std::map<std::int64_t, int> writes;  // how many take so long
  for (const auto& insertion : told->inserted) {
    if (insertion.task.kind == foretrace::TaskKind::host && insertion.task.duration_ns > 0) {
      ++writes[insertion.task.duration_ns];
    }
  }
  // The gradients that the ranks exchange are a million parameters: rank 0 saves them for both.
  CHECK(writes == std::map<std::int64_t, int>{{12'000'000, 2}, {16'000'000, 2}});
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
