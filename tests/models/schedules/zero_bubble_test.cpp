#include <algorithm>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "models/schedules/execution.h"

using foretrace::check_shape;
using foretrace::drawn;
using foretrace::execute;
using foretrace::Executed;
using foretrace::find_schedule;
using foretrace::most_in_flight;
using foretrace::orders_of;
using foretrace::PipelineTimes;
using foretrace::ScheduleInfo;
using foretrace::ScheduleShape;
using foretrace::sequence_of;

namespace {

const ScheduleInfo& schedule(std::string_view name) {
  const auto found = find_schedule(name);
  REQUIRE(found.ok());
  return **found;
}

struct Passes {
  std::int64_t forward;
  std::int64_t inputs;
  std::int64_t weights;
};

PipelineTimes equal(const ScheduleShape& shape, const Passes& passes) {
  PipelineTimes times;
  times.shape = shape;
  const std::size_t positions = std::size_t{shape.stages} * shape.chunks;
  times.forward.assign(positions, passes.forward);
  times.backward.assign(positions, passes.inputs);
  times.weights.assign(positions, passes.weights);
  return times;
}

Executed run(const ScheduleInfo& one, const PipelineTimes& times) {
  const auto sequence = sequence_of(one, times.shape, orders_of(one, times.shape));
  REQUIRE_MESSAGE(sequence.ok(), (sequence.ok() ? "" : sequence.error().message));
  return execute(one, times, *sequence);
}

std::int64_t work(const PipelineTimes& times) {
  return std::int64_t{times.shape.micro_batches} * times.shape.chunks *
         (times.forward[0] + times.backward[0] + times.weights[0]);
}

// Pauses of the stage that has most, from its first step on: stage r begins after r forward passes.
std::int64_t longest_pauses(const PipelineTimes& times, const Executed& executed) {
  std::int64_t most = 0;
  for (std::size_t stage = 0; stage < executed.stage_end_ns.size(); ++stage) {
    const std::int64_t begin = static_cast<std::int64_t>(stage) * times.forward[0];
    most = std::max(most, executed.stage_end_ns[stage] - begin - work(times));
  }
  return most;
}

const std::vector<ScheduleShape> shapes = {{2, 8, 1}, {4, 8, 1}, {4, 12, 1}, {8, 24, 1}};
const std::vector<Passes> passes_tried = {{1, 1, 1}, {10, 12, 8}, {10, 10, 6}};

}  // namespace

TEST_CASE("zero_bubble_h1: three stages look as in the paper") {
  CHECK(drawn(schedule("zero_bubble_h1"), {3, 4, 1}) ==
        "stage 0: F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3\n"
        "stage 1: F0 F1 B0 F2 B1 W0 F3 B2 W1 B3 W2 W3\n"
        "stage 2: F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3\n");
}

TEST_CASE("zero_bubble_h1: the bubble is (p - 1)(f + b - w) in the memory of 1F1B") {
  const ScheduleInfo& one = schedule("zero_bubble_h1");
  for (const ScheduleShape& shape : shapes) {
    for (const Passes& p : passes_tried) {
      const PipelineTimes times = equal(shape, p);
      const std::int64_t bubble = (shape.stages - 1) * (p.forward + p.inputs - p.weights);
      CHECK(run(one, times).makespan_ns == work(times) + bubble);
      CHECK(one.makespan(times) == work(times) + bubble);
    }
    for (std::uint32_t stage = 0; stage < shape.stages; ++stage) {
      CHECK(most_in_flight(one, shape, stage) == shape.stages);
    }
  }
}

TEST_CASE("zero_bubble_h2: a stage pauses for (p - 1)(f + b - 2 w) with 2 p - 1 in flight") {
  const ScheduleInfo& one = schedule("zero_bubble_h2");
  for (const ScheduleShape& shape : {ScheduleShape{4, 8, 1}, {4, 12, 1}, {8, 24, 1}}) {
    for (const Passes& p : passes_tried) {
      const PipelineTimes times = equal(shape, p);
      CHECK(longest_pauses(times, run(one, times)) ==
            (shape.stages - 1) * (p.forward + p.inputs - 2 * p.weights));
    }
    CHECK(most_in_flight(one, shape, 0) == 2 * shape.stages - 1);
  }
}

TEST_CASE("zero_bubble_v: equal passes leave no pause in the memory of 1F1B") {
  const ScheduleInfo& one = schedule("zero_bubble_v");
  for (ScheduleShape shape : shapes) {
    shape.chunks = 2;
    const PipelineTimes times = equal(shape, {5, 5, 5});
    CHECK(longest_pauses(times, run(one, times)) == 0);
    // 2 p chunks, each half of a stage: p micro-batches
    for (std::uint32_t stage = 0; stage < shape.stages; ++stage) {
      CHECK(most_in_flight(one, shape, stage) == 2 * shape.stages);
    }
  }
}

TEST_CASE("dual_pipe_v: the bubble is at most what its authors state, with 2 p + 1 in flight") {
  const ScheduleInfo& one = schedule("dual_pipe_v");
  for (ScheduleShape shape : shapes) {
    shape.chunks = 2;
    for (const Passes& p : passes_tried) {
      const PipelineTimes times = equal(shape, p);
      // (PP / 2 - 1)(F&B + B - 3 W) on PP / 2 stages, B both gradients; here F&B = F + B and the
      // results of a pair are there one by one
      const std::int64_t backward = p.inputs + p.weights;
      const std::int64_t stated =
          (shape.stages - 1) * (p.forward + backward + backward - 3 * p.weights);
      const std::int64_t bubble = run(one, times).makespan_ns - work(times);
      CHECK(bubble <= stated);
      CHECK(bubble >= (shape.stages - 1) * (p.forward + p.inputs - p.weights));
    }
    for (std::uint32_t stage = 0; stage < shape.stages; ++stage) {
      CHECK(most_in_flight(one, shape, stage) == 2 * shape.stages + 1);
    }
  }
  CHECK_FALSE(check_shape(one, {4, 7, 2}).ok());
  CHECK_FALSE(check_shape(one, {4, 8, 1}).ok());
}

TEST_CASE("zero_bubble: random times of stages never end in a deadlock") {
  std::mt19937 random(11);
  const auto draw = [&random](int low, int high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int i = 0; i < 500; ++i) {
    for (const std::string_view name :
         {"zero_bubble_h1", "zero_bubble_h2", "zero_bubble_v", "dual_pipe_v"}) {
      const ScheduleInfo& one = schedule(name);
      const ScheduleShape shape{static_cast<std::uint32_t>(draw(1, 9)),
                                static_cast<std::uint32_t>(draw(1, 30)), one.least_chunks};
      if (!check_shape(one, shape).ok()) continue;
      PipelineTimes times = equal(shape, {1, 1, 1});
      for (auto* column : {&times.forward, &times.backward, &times.weights}) {
        for (std::int64_t& time : *column) time = draw(1, 1000);
      }
      std::int64_t longest = 0;
      for (std::uint32_t stage = 0; stage < shape.stages; ++stage) {
        std::int64_t own = 0;
        for (std::uint32_t chunk = 0; chunk < shape.chunks; ++chunk) {
          const auto q = position_of(one, shape, stage, chunk);
          own += times.forward[q] + times.backward[q] + times.weights[q];
        }
        longest = std::max(longest, own * shape.micro_batches);
      }
      CHECK(run(one, times).makespan_ns >= longest);
    }
  }
}
