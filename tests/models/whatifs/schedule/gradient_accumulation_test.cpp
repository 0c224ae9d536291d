#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/models/training_job.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& gradient_accumulation;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::gradient_accumulation;

namespace {

foretrace::TaskGraph one_step() {
  ToyRun run;
  run.host_task("load", foretrace::TaskKind::host, 100, 0, Phase::data_loading);
  run.kernel({.name = "forward", .duration_ns = 10, .launch_ns = 2});
  run.kernel({.name = "backward", .duration_ns = 20, .phase = Phase::backward, .launch_ns = 2});
  run.kernel({.name = "update", .duration_ns = 5, .phase = Phase::update, .launch_ns = 2});
  run.synchronize();
  return run.build();
}

}  // namespace

TEST_CASE("gradient_accumulation: passes and loading repeat, the update does not") {
  const auto graph = one_step();
  REQUIRE(span_ns(graph) == 100 + 2 + 10 + 20 + 5);
  const auto four = after(graph, gradient_accumulation, {{"steps", "4"}});
  CHECK(count_of(four, "forward") == 4);
  CHECK(count_of(four, "backward") == 4);
  CHECK(count_of(four, "update") == 1);
  // Each further pass loads for 100 ns after its predecessor's launches (4 ns) and hides the
  // predecessor's 30 ns of device time: 4 x 104 ns of host time before the last pass's last launch.
  CHECK(span_ns(four) == 3 * 104 + 100 + 2 + 10 + 20 + 5);
  const auto ready = after(graph, gradient_accumulation, {{"steps", "4"}, {"load", "false"}});
  CHECK(span_ns(ready) == 100 + 2 + 4 * 30 + 5);
}

TEST_CASE("gradient_accumulation: copies of gradients are gradients, beside a stream that waits") {
  ToyRun run;
  const auto side = run.add_stream(9);
  const auto forward = run.kernel({.name = "forward", .duration_ns = 10, .launch_ns = 2});
  run.bystander(side, forward, 40);
  run.kernel({.name = "backward", .duration_ns = 20, .phase = Phase::backward, .launch_ns = 2});
  run.kernel({.name = "update", .duration_ns = 5, .phase = Phase::update, .launch_ns = 2});
  const auto three = after(run.build(), gradient_accumulation, {{"steps", "3"}});
  std::size_t gradients = 0;
  for (std::size_t i = 0; i < three.size(); ++i) {
    const auto task = foretrace::make_id<foretrace::TaskId>(i);
    if (three.kind(task) != foretrace::TaskKind::kernel) continue;
    gradients += three.phase(task) == Phase::backward ? 1 : 0;
    CHECK((three.phase(task) == Phase::backward) == (three.name(task) == "backward"));
  }
  CHECK(gradients == 3);
}

TEST_CASE(
    "gradient_accumulation: what waits for a stream since before the pass waits for its copy") {
  ToyRun run;
  const auto own = run.stream();
  const auto side = run.add_stream(9);
  const auto on = [&](foretrace::LaneId stream, const foretrace::test::ToyKernel& kernel) {
    run.use_stream(stream);
    return run.kernel(kernel);
  };
  const auto before = on(side, {.name = "before", .duration_ns = 10, .phase = Phase::update});
  // The pass begins once the other stream is done, and ends there.
  const auto forward = on(own, {.name = "forward", .duration_ns = 100});
  run.wait_for(forward, before);
  const auto backward =
      on(side, {.name = "backward", .duration_ns = 1000, .phase = Phase::backward});
  run.wait_for(backward, forward);
  const auto update = on(own, {.name = "update", .duration_ns = 5, .phase = Phase::update});
  run.wait_for(update, backward);
  const auto graph = run.build();
  REQUIRE(span_ns(graph) == 10 + 100 + 1000 + 5);
  for (const int steps : {2, 3, 5}) {
    CAPTURE(steps);
    const auto more =
        after(graph, gradient_accumulation, {{"steps", std::to_string(steps)}, {"load", "false"}});
    CHECK(span_ns(more) == 10 + steps * (100 + 1000) + 5);
  }
}

TEST_CASE("gradient_accumulation: other calls and waits of a pass come again with every copy") {
  ToyRun run;
  const auto own = run.stream();
  const auto side = run.add_stream(9);
  const auto forward = run.kernel({.name = "forward", .duration_ns = 10'000, .launch_ns = 2});
  run.use_stream(side);
  run.wait_for(run.kernel({.name = "side", .duration_ns = 500, .launch_ns = 2}), forward);
  run.use_stream(own);
  run.host_task("hipFree", foretrace::TaskKind::host, 3'000, 40);
  run.kernel({.name = "Memset (Device)",
              .duration_ns = 7,
              .launch_ns = 1,
              .kind = foretrace::TaskKind::set});
  run.synchronize(5);
  run.kernel({.name = "backward", .duration_ns = 20, .phase = Phase::backward, .launch_ns = 2});
  run.kernel({.name = "update", .duration_ns = 5, .phase = Phase::update, .launch_ns = 2});
  run.synchronize();
  const auto three = after(run.build(), gradient_accumulation, {{"steps", "3"}});
  CHECK(count_of(three, "hipFree") == 3);
  CHECK(count_of(three, "Memset (Device)") == 3);
  CHECK(count_of(three, "cudaStreamSynchronize") == 2 * 3 + 2);
  const auto timeline = foretrace::simulate(three);
  const auto tasks = [&](std::string_view name) {
    std::vector<foretrace::TaskId> found;
    for (std::size_t i = 0; i < three.size(); ++i) {
      const auto task = foretrace::make_id<foretrace::TaskId>(i);
      if (three.name(task) == name) found.push_back(task);
    }
    return found;
  };
  const auto forwards = tasks("forward");
  const auto sides = tasks("side");
  const auto sets = tasks("Memset (Device)");
  const auto backwards = tasks("backward");
  REQUIRE(forwards.size() == 3);
  REQUIRE(sides.size() == 3);
  REQUIRE(backwards.size() == 3);
  REQUIRE(sets.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    // The other stream waits for its own pass, the host for the memory that its own pass sets.
    CHECK(timeline.start_ns(sides[i]) >= timeline.end_ns(forwards[i]));
    CHECK(timeline.start_ns(backwards[i]) >= timeline.end_ns(sets[i]));
    if (i > 0) CHECK(timeline.start_ns(forwards[i]) >= timeline.end_ns(backwards[i - 1]));
  }
  CHECK(timeline.span_ns >= 3 * 10'000 + 3 * 20);
}

TEST_CASE("gradient_accumulation: what only the first pass does is not done again") {
  ToyRun run;
  for (int step = 0; step < 2; ++step) {
    run.kernel({.name = "forward", .duration_ns = 10, .launch_ns = 2});
    if (step == 0) run.host_task("hipMalloc", foretrace::TaskKind::host, 50'000, 0);
    run.host_task("hipFree", foretrace::TaskKind::host, 300, 0);
    run.kernel({.name = "backward", .duration_ns = 20, .phase = Phase::backward, .launch_ns = 2});
    run.kernel({.name = "update", .duration_ns = 5, .phase = Phase::update, .launch_ns = 2});
  }
  const auto four = after(run.build(), gradient_accumulation, {{"steps", "4"}});
  CHECK(count_of(four, "hipMalloc") == 1);
  CHECK(count_of(four, "hipFree") == 2 * 4);
}

TEST_CASE("gradient_accumulation: one pass per update changes nothing") {
  const auto graph = one_step();
  CHECK(span_ns(after(graph, gradient_accumulation, {{"steps", "1"}})) == span_ns(graph));
}

TEST_CASE("gradient_accumulation: declines without a backward pass") {
  ToyRun run;
  run.kernel({.name = "forward", .duration_ns = 10});
  const auto declined = apply_to(run.build(), gradient_accumulation, {{"steps", "2"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}

namespace {

// Two streams; a collective in the forward part and one at the end of the backward part.
foretrace::TaskGraph with_collectives(foretrace::CollectiveKind forward,
                                      foretrace::CollectiveKind backward) {
  ToyRun run;
  const auto own = run.stream();
  const auto network = run.add_stream(9);
  const auto collective = [&](foretrace::CollectiveKind kind, foretrace::TaskId source) {
    run.use_stream(network);
    const auto task = run.kernel({.name = "ncclKernel",
                                  .duration_ns = 30,
                                  .phase = Phase::communication,
                                  .launch_ns = 2,
                                  .kind = foretrace::TaskKind::collective,
                                  .collective = kind,
                                  .communicator = 0,
                                  .bytes = 1 << 20});
    run.wait_for(task, source);
    run.use_stream(own);
    return task;
  };
  const auto begin = run.kernel({.name = "forward", .duration_ns = 10, .launch_ns = 2});
  const auto met = collective(forward, begin);
  run.wait_for(run.kernel({.name = "top", .duration_ns = 10, .launch_ns = 2}), met);
  const auto back =
      run.kernel({.name = "backward", .duration_ns = 20, .phase = Phase::backward, .launch_ns = 2});
  const auto reduced = collective(backward, back);
  run.kernel({.name = "bottom", .duration_ns = 20, .phase = Phase::backward, .launch_ns = 2});
  run.wait_for(
      run.kernel({.name = "update", .duration_ns = 5, .phase = Phase::update, .launch_ns = 2}),
      reduced);
  run.builder().add_communicator({"world", 2, {0, 1}});
  return run.build();
}

}  // namespace

TEST_CASE("gradient_accumulation: passes that communicate more than gradients are declined") {
  using Kind = foretrace::CollectiveKind;
  for (const auto& [forward, backward] : {std::pair{Kind::all_to_all, Kind::all_reduce},
                                          {Kind::broadcast, Kind::all_to_all},
                                          {Kind::all_gather, Kind::reduce_scatter},
                                          {Kind::all_reduce, Kind::all_reduce}}) {
    const auto graph = with_collectives(forward, backward);
    const auto declined = apply_to(graph, gradient_accumulation, {{"steps", "4"}});
    REQUIRE_FALSE(declined.ok());
    CHECK(declined.error().code == ErrorCode::no_match);
    CHECK(declined.error().message.find("1 collective") == 0);
    CHECK(span_ns(after(graph, gradient_accumulation, {{"steps", "1"}})) == span_ns(graph));
  }
  const auto four = after(with_collectives(Kind::broadcast, Kind::all_reduce),
                          gradient_accumulation, {{"steps", "4"}});
  CHECK(count_of(four, "backward") == 4);
  CHECK(count_of(four, "ncclKernel") == 2);
}

TEST_CASE("gradient_accumulation: ranks that meet in all-reduces of gradients reduce them once") {
  const auto graph = foretrace::test::training_job(
      {.steps = 1,
       .reduces = {{.bytes = 4'000'000, .ns = 1'000'000, .after = 3},
                   {.bytes = 4'000'000, .ns = 1'000'000, .after = 6}}});
  CHECK(span_ns(graph) == 12'000'000);
  const auto three = after(graph, gradient_accumulation, {{"steps", "3"}});
  CHECK(count_of(three, "fwd") == 2 * 3);
  CHECK(count_of(three, "all_reduce") == 2);
  CHECK(span_ns(three) == 12'000'000 + 2 * 10'000'000);
}

TEST_CASE("gradient_accumulation: a pass that the recording begins in stays, whole ones repeat") {
  const auto recording = [](int whole) {
    ToyRun run;
    const auto side = run.add_stream(9);
    auto& builder = run.builder();
    foretrace::Work early;
    early.name = builder.add_name("forward");
    early.kind = foretrace::TaskKind::kernel;
    // Launched before the recording began.
    const auto begun = builder.add_task({.lane = run.stream(),
                                         .work = builder.add_work(early),
                                         .kind = foretrace::TaskKind::kernel,
                                         .duration_ns = 10,
                                         .phase = Phase::forward});
    run.bystander(side, begun, 5);
    for (int pass = 0; pass <= whole; ++pass) {
      if (pass > 0) run.kernel({.name = "forward", .duration_ns = 10, .launch_ns = 2});
      const auto back = run.kernel(
          {.name = "backward", .duration_ns = 20, .phase = Phase::backward, .launch_ns = 2});
      run.wait_for(run.bystander(side, back, 5), back);
      run.kernel({.name = "update", .duration_ns = 5, .phase = Phase::update, .launch_ns = 2});
    }
    return run.build();
  };
  const auto three = after(recording(2), gradient_accumulation, {{"steps", "3"}});
  CHECK(count_of(three, "backward") == 1 + 2 * 3);
  CHECK(count_of(three, "update") == 3);
  const auto told = apply_to(recording(2), gradient_accumulation, {{"steps", "3"}});
  REQUIRE(told.ok());
  CHECK(told->notes[0].find("left out: 1 pass whose launches are not all recorded") !=
        std::string::npos);
  const auto declined = apply_to(recording(0), gradient_accumulation, {{"steps", "3"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().message.find("CUDA graph") == std::string::npos);
  CHECK(declined.error().message.find("without a recorded launch") != std::string::npos);
}

TEST_CASE("gradient_accumulation: passes that one call launches are declined") {
  ToyRun run;
  auto& builder = run.builder();
  foretrace::Work work;
  work.name = builder.add_name("captured");
  work.kind = foretrace::TaskKind::kernel;
  const auto id = builder.add_work(work);
  const auto call = run.host_task("cudaGraphLaunch", foretrace::TaskKind::launch, 2, 0);
  for (const Phase phase : {Phase::forward, Phase::forward, Phase::backward}) {
    const auto kernel = builder.add_task({.lane = run.stream(),
                                          .work = id,
                                          .kind = foretrace::TaskKind::kernel,
                                          .duration_ns = 10,
                                          .phase = phase});
    builder.add_dependency({.source = foretrace::end_of(call),
                            .task = kernel,
                            .kind = foretrace::DependencyKind::launch});
  }
  run.kernel({.name = "update", .duration_ns = 5, .phase = Phase::update});
  const auto graph = run.build();
  const auto declined = apply_to(graph, gradient_accumulation, {{"steps", "2"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().message.find("3 of the 3 kernels of a pass are launched with others") ==
        0);
  CHECK(span_ns(after(graph, gradient_accumulation, {{"steps", "1"}})) == span_ns(graph));
}

TEST_CASE("gradient_accumulation: the answer is doubtful where no update is recorded") {
  const auto doubts = [&](const foretrace::TaskGraph& graph) {
    const auto change = apply_to(graph, gradient_accumulation, {{"steps", "2"}});
    REQUIRE(change.ok());
    return change->doubts;
  };
  CHECK(doubts(one_step()).empty());
  ToyRun run;
  run.kernel({.name = "forward", .duration_ns = 10, .launch_ns = 2});
  run.kernel({.name = "backward", .duration_ns = 20, .phase = Phase::backward, .launch_ns = 2});
  const auto found = doubts(run.build());
  REQUIRE(found.size() == 1);
  CHECK(found[0].text == "no update is recorded behind any pass");
  CHECK_FALSE(found[0].is_bounded);
}
