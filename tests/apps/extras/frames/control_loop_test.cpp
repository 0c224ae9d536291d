#include "apps/extras/frames/control_loop.h"

#include <random>

#include <doctest/doctest.h>

using namespace foretrace::streams;

namespace {

// Camera 2, network on the GPU, planner 3, bus 1; a frame every 10.
ControlLoop loop_of(std::int64_t network_ns, std::int64_t frames) {
  return {
      .devices = 4,
      .stages = {{"camera", 0, 2}, {"network", 1, network_ns}, {"planner", 2, 3}, {"bus", 3, 1}},
      .guests = {},
      .period_ns = 10,
      .deadline_ns = 20,
      .frames = frames};
}

}  // namespace

TEST_CASE("control loop: with room on every device latency is the sum of the stages") {
  // 2 + 6 + 3 + 1 = 12 for each; the last of 10 frames ends at 90 + 12, the GPU works 60 of 102.
  const LoopFigures figures = run_loop(loop_of(6, 10));
  CHECK(figures.mean_ns == doctest::Approx(12));
  CHECK(figures.longest_ns == 12);
  CHECK(figures.missed() == 0);
  CHECK(figures.span_ns == 102);
  CHECK(figures.busy_ns == std::vector<std::int64_t>{20, 60, 30, 10});
}

TEST_CASE("control loop: a network slower than the period skips frames, and is never old by more") {
  // The GPU takes 15. Frames reach it at 2, 12, 22, 32, 42; it is free at 2, 17, 32, 47.
  // 0: 2-17, ends at 21. 1: 17-32, ends at 36: 26. 2 waits at 22, and 32 is an end before an
  // arrival: 2 runs 32-47, ends at 51: 31. 3 waits at 32, 4 replaces it at 42: 4 runs 47-62, ends
  // at 66: 26. One of five is dropped, the others are late.
  const LoopFigures figures = run_loop(loop_of(15, 5));
  CHECK(figures.dropped == 1);
  CHECK(figures.late == 4);
  CHECK(figures.mean_ns == doctest::Approx((21 + 26 + 31 + 26) / 4.0));
  CHECK(figures.longest_ns == 31);
}

TEST_CASE("control loop: a queue drops nothing and falls behind") {
  ControlLoop loop = loop_of(15, 5);
  loop.late = LateFrames::queue;
  // Frame i leaves the GPU at 17 + 15 i: 21 + 5 i after it was seen.
  const LoopFigures figures = run_loop(loop);
  CHECK(figures.dropped == 0);
  CHECK(figures.longest_ns == 21 + 5 * 4);
  CHECK(figures.mean_ns == doctest::Approx(31));
}

TEST_CASE("control loop: other work on a device delays frames and is counted apart") {
  ControlLoop loop = loop_of(6, 2);
  loop.guests = {{"map", 1, 100, 5}};
  // The guest runs 0 to 5: frame 0 waits from 2 to 5, frame 1 finds the GPU free.
  const LoopFigures figures = run_loop(loop);
  CHECK(figures.mean_ns == doctest::Approx((15 + 12) / 2.0));
  CHECK(figures.guest_ns[1] == 5);
  CHECK(figures.busy_ns[1] == 12);
}

TEST_CASE("control loop: a device that a guest fills still serves frames in turn") {
  ControlLoop loop = loop_of(6, 4);
  loop.guests = {{"hog", 1, 10, 10}};
  const LoopFigures figures = run_loop(loop);
  CHECK(figures.frames == 4);
  CHECK(figures.busy_ns[1] + figures.guest_ns[1] <= figures.span_ns);
}

TEST_CASE("control loop: a layer's time goes with channels in times channels out") {
  const std::vector<PrunedLayer> layers = {{100, 1}, {200, 1}, {300, 1}};
  CHECK(pruned_time_ns(layers, {}) == 603);
  // 100 x 1 x 0.5 + 200 x 0.5 x 0.5 + 300 x 0.5 x 1 + 3.
  CHECK(pruned_time_ns(layers, {0.5, 0.5, 1}) == 50 + 50 + 150 + 3);
  CHECK(pruned_time_ns(layers, {1, 1, 1}) == 603);
}

TEST_CASE("control loop: no loop takes longer than the effort that is told before") {
  std::mt19937_64 random(7);
  const auto upto = [&](std::uint64_t most) {
    return static_cast<std::int64_t>(1 + random() % most);
  };
  for (int i = 0; i < 1000; ++i) {
    ControlLoop loop;
    loop.devices = 3;
    loop.frames = upto(40);
    loop.period_ns = upto(20);
    loop.jitter_ns = upto(static_cast<std::uint64_t>(loop.period_ns));
    loop.late = i % 2 == 0 ? LateFrames::skip : LateFrames::queue;
    for (auto left = upto(4); left > 0; --left) {
      loop.stages.push_back({"stage", random() % 3, upto(30)});
    }
    for (auto left = upto(3); left > 0; --left) {
      loop.guests.push_back({"guest", random() % 3, upto(20), upto(30)});
    }
    CAPTURE(i);
    const LoopFigures figures = run_loop(loop);
    CHECK(figures.span_ns >= 0);
    CHECK(static_cast<double>(figures.span_ns) <= effort_of(loop).span_ns);
  }
}
