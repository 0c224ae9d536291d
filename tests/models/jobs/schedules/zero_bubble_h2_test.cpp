#include <doctest/doctest.h>

#include "models/jobs/schedules/execution.h"
#include "tests/models/jobs/schedules/divided_passes.h"

using foretrace::most_in_flight;
using foretrace::PipelineTimes;
using foretrace::ScheduleInfo;
using foretrace::ScheduleShape;
using foretrace::test::divided_passes;
using foretrace::test::equal_passes;
using foretrace::test::longest_pauses;
using foretrace::test::Passes;
using foretrace::test::run;
using foretrace::test::schedule;

TEST_CASE("zero_bubble_h2: a stage pauses for (p - 1)(f + b - 2 w) with 2 p - 1 in flight") {
  const ScheduleInfo& one = schedule("zero_bubble_h2");
  for (const ScheduleShape& shape : {ScheduleShape{4, 8, 1}, {4, 12, 1}, {8, 24, 1}}) {
    for (const Passes& p : divided_passes()) {
      const PipelineTimes times = equal_passes(shape, p);
      CHECK(longest_pauses(times, run(one, times)) ==
            (shape.stages - 1) * (p.forward + p.inputs - 2 * p.weights));
    }
    CHECK(most_in_flight(one, shape, 0) == 2 * shape.stages - 1);
  }
}
