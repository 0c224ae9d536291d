#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "models/jobs/schedules/execution.h"
#include "tests/models/jobs/schedules/drawn.h"

using foretrace::execute;
using foretrace::find_schedule;
using foretrace::finished;
using foretrace::orders_of;
using foretrace::PipelineTimes;
using foretrace::ScheduleInfo;
using foretrace::ScheduleShape;
using foretrace::sequence_of;

TEST_CASE("interleaved: chunks take turns in groups of as many micro-batches as stages") {
  const auto schedule = find_schedule("interleaved");
  REQUIRE(schedule.ok());
  // Megatron-LM: warm-up 2 (p - r - 1) + (v - 1) p forward steps
  CHECK(foretrace::test::drawn(**schedule, {2, 2, 2}) ==
        "stage 0: F0a F1a F0b F1b B0b B1b B0a B1a\n"
        "stage 1: F0a F1a F0b B0b F1b B1b B0a B1a\n");
}

TEST_CASE("interleaved: one stage and odd numbers of micro-batches are refused") {
  const auto schedule = find_schedule("interleaved");
  REQUIRE(schedule.ok());
  CHECK_FALSE(check_shape(**schedule, {1, 4, 2}).ok());
  CHECK_FALSE(check_shape(**schedule, {4, 5, 2}).ok());
}

namespace {

struct RandomPipeline {
  PipelineTimes times;
  bool is_even = true;  ///< passes of all positions are equal
  double send = 0;      ///< of the shorter pass
};

RandomPipeline random_pipeline(std::mt19937& random) {
  const auto draw = [&random](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  RandomPipeline drawn;
  ScheduleShape& shape = drawn.times.shape;
  shape.stages = static_cast<std::uint32_t>(draw(2, 8));
  shape.chunks = static_cast<std::uint32_t>(draw(2, 8));
  shape.micro_batches = shape.stages * static_cast<std::uint32_t>(draw(1, 8));
  const std::size_t positions = std::size_t{shape.stages} * shape.chunks;
  const std::int64_t forward = draw(1000, 10000);
  const std::int64_t backward = forward * draw(2, 5) / 2;
  drawn.times.forward.assign(positions, forward);
  drawn.times.backward.assign(positions, backward);
  drawn.is_even = draw(0, 1) == 0;
  if (!drawn.is_even) {  // embedding and head
    drawn.times.forward.front() += draw(0, forward / 5);
    drawn.times.forward.back() += draw(0, forward);
    drawn.times.backward.back() += draw(0, backward);
  }
  drawn.send = static_cast<double>(draw(0, 3) * draw(0, 20)) / 20;
  const auto send = static_cast<std::int64_t>(drawn.send * static_cast<double>(forward));
  drawn.times.send_forward.assign(positions - 1, send);
  drawn.times.send_backward.assign(positions - 1, send);
  return drawn;
}

}  // namespace

TEST_CASE("interleaved: the formula knows slow sends, and never says more than the steps take") {
  const auto found = find_schedule("interleaved");
  REQUIRE(found.ok());
  const ScheduleInfo& schedule = **found;
  std::mt19937 random(5);
  std::vector<double> slow;
  for (int i = 0; i < 3000; ++i) {
    const RandomPipeline drawn = random_pipeline(random);
    const ScheduleShape& shape = drawn.times.shape;
    CAPTURE(shape.stages);
    CAPTURE(shape.chunks);
    CAPTURE(shape.micro_batches);
    CAPTURE(drawn.send);
    const auto sequence = sequence_of(schedule, shape, orders_of(schedule, shape));
    REQUIRE(sequence.ok());
    const std::int64_t steps = execute(schedule, drawn.times, *sequence).makespan_ns;
    const std::int64_t formula = finished(schedule, drawn.times).makespan_ns;
    CHECK(formula <= steps);
    const double error = 1 - static_cast<double>(formula) / static_cast<double>(steps);
    if (drawn.send <= 1) {
      // Embedding and head alone are not in every path.
      if (drawn.is_even) CHECK(formula == steps);
      CHECK(error < 0.04);
    } else {
      slow.push_back(error);
    }
  }
  std::sort(slow.begin(), slow.end());
  REQUIRE(slow.size() > 500);
  CHECK(slow[slow.size() / 2] < 0.04);
  CHECK(slow.back() < 0.15);
}
