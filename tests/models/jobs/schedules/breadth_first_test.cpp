#include <doctest/doctest.h>

#include "models/jobs/schedules/execution.h"
#include "tests/models/jobs/schedules/drawn.h"

using foretrace::execute;
using foretrace::find_schedule;
using foretrace::finished;
using foretrace::most_in_flight;
using foretrace::orders_of;
using foretrace::PipelineTimes;
using foretrace::ScheduleShape;
using foretrace::sequence_of;

TEST_CASE("breadth_first: all micro-batches of a chunk come before the next chunk") {
  const auto schedule = find_schedule("breadth_first");
  REQUIRE(schedule.ok());
  CHECK(foretrace::test::drawn(**schedule, {2, 2, 2}) ==
        "stage 0: F0a F1a F0b F1b B0b B1b B0a B1a\n"
        "stage 1: F0a F1a F0b F1b B0b B1b B0a B1a\n");
  CHECK(most_in_flight(**schedule, {4, 8, 2}, 3) == 16);
  CHECK_FALSE(check_shape(**schedule, {4, 3, 2}).ok());
}

TEST_CASE("breadth_first: the bubble is (p - 1) / v forward and backward passes of a stage") {
  const auto schedule = find_schedule("breadth_first");
  REQUIRE(schedule.ok());
  // (p, v, m): v (m + (p - 1) / v) chunks of f + b; times of a whole stage would be v times these
  struct Case {
    ScheduleShape shape;
    std::int64_t forward;
    std::int64_t backward;
    std::int64_t makespan;
  };
  for (const Case& one : {Case{{4, 8, 1}, 1, 2, 33},     // 11 x 3
                          Case{{4, 8, 2}, 1, 2, 57},     // 19 x 3: 28.5 of whole stages
                          Case{{8, 16, 4}, 1, 2, 213},   // 71 x 3: 53.25
                          Case{{4, 4, 4}, 1, 2, 57},     // 19 x 3: 14.25
                          Case{{4, 4, 2}, 1, 1, 22}}) {  // 11 x 2: 11
    PipelineTimes times;
    times.shape = one.shape;
    const std::size_t positions = std::size_t{one.shape.stages} * one.shape.chunks;
    times.forward.assign(positions, one.forward);
    times.backward.assign(positions, one.backward);
    const auto sequence = sequence_of(**schedule, one.shape, orders_of(**schedule, one.shape));
    REQUIRE(sequence.ok());
    CHECK(execute(**schedule, times, *sequence).makespan_ns == one.makespan);
    CHECK(finished(**schedule, times).makespan_ns == one.makespan);
  }
}
