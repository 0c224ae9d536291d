#include <algorithm>
#include <random>

#include <doctest/doctest.h>

#include "models/jobs/schedules/execution.h"
#include "tests/models/jobs/schedules/divided_passes.h"
#include "tests/models/jobs/schedules/drawn.h"

using foretrace::most_in_flight;
using foretrace::PipelineTimes;
using foretrace::ScheduleInfo;
using foretrace::ScheduleShape;
using foretrace::test::divided_passes;
using foretrace::test::divided_shapes;
using foretrace::test::equal_passes;
using foretrace::test::Passes;
using foretrace::test::run;
using foretrace::test::schedule;
using foretrace::test::work;

TEST_CASE("zero_bubble_h1: three stages look as in the paper") {
  CHECK(foretrace::test::drawn(schedule("zero_bubble_h1"), {3, 4, 1}) ==
        "stage 0: F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3\n"
        "stage 1: F0 F1 B0 F2 B1 W0 F3 B2 W1 B3 W2 W3\n"
        "stage 2: F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3\n");
}

TEST_CASE("zero_bubble_h1: the bubble is (p - 1)(f + b - w) in the memory of 1F1B") {
  const ScheduleInfo& one = schedule("zero_bubble_h1");
  for (const ScheduleShape& shape : divided_shapes()) {
    for (const Passes& p : divided_passes()) {
      const PipelineTimes times = equal_passes(shape, p);
      const std::int64_t bubble = (shape.stages - 1) * (p.forward + p.inputs - p.weights);
      CHECK(run(one, times).makespan_ns == work(times) + bubble);
      CHECK(finished(one, times).makespan_ns == work(times) + bubble);
    }
    for (std::uint32_t stage = 0; stage < shape.stages; ++stage) {
      CHECK(most_in_flight(one, shape, stage) == shape.stages);
    }
  }
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
      PipelineTimes times = equal_passes(shape, {1, 1, 1});
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
