#include <doctest/doctest.h>

#include "models/jobs/schedules/execution.h"

using foretrace::execute;
using foretrace::find_schedule;
using foretrace::finished;
using foretrace::orders_of;
using foretrace::PipelineTimes;
using foretrace::sequence_of;

TEST_CASE(
    "gpipe: irregular stages take the sum of all and the longest for every other micro-batch") {
  const auto schedule = find_schedule("gpipe");
  REQUIRE(schedule.ok());
  PipelineTimes times;
  times.shape = {3, 4, 1};
  times.forward = {5, 9, 2};
  times.backward = {10, 4, 7};
  times.send_forward = times.send_backward = {1, 1};
  const auto sequence = sequence_of(**schedule, times.shape, orders_of(**schedule, times.shape));
  REQUIRE(sequence.ok());
  // forward 5 + 1 + 9 + 1 + 2 + 3 x 9, backward 7 + 1 + 4 + 1 + 10 + 3 x 10
  CHECK(execute(**schedule, times, *sequence).makespan_ns == 45 + 53);
  CHECK(finished(**schedule, times).makespan_ns == 98);
}

TEST_CASE("gpipe: several chunks per stage are refused") {
  const auto schedule = find_schedule("gpipe");
  REQUIRE(schedule.ok());
  CHECK_FALSE(check_shape(**schedule, {4, 8, 2}).ok());
}
