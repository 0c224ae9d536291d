#include <doctest/doctest.h>

#include "models/jobs/schedules/execution.h"

using foretrace::execute;
using foretrace::find_schedule;
using foretrace::finished;
using foretrace::orders_of;
using foretrace::PipelineTimes;
using foretrace::sequence_of;

TEST_CASE("1f1b: a slow last stage makes the pace, the others add one pass each way") {
  const auto schedule = find_schedule("1f1b");
  REQUIRE(schedule.ok());
  PipelineTimes times;
  times.shape = {3, 5, 1};
  times.forward = {2, 2, 6};
  times.backward = {4, 4, 9};
  times.send_forward = times.send_backward = {0, 0};
  const auto sequence = sequence_of(**schedule, times.shape, orders_of(**schedule, times.shape));
  REQUIRE(sequence.ok());
  // 5 x (6 + 9) + (2 + 4) + (2 + 4)
  CHECK(execute(**schedule, times, *sequence).makespan_ns == 87);
  CHECK(finished(**schedule, times).makespan_ns == 87);
}

TEST_CASE("1f1b: chunks are refused") {
  const auto schedule = find_schedule("1f1b");
  REQUIRE(schedule.ok());
  CHECK(check_shape(**schedule, {4, 8, 2}).error().message ==
        "1f1b: 2 of chunks per stage, expected 1");
}
