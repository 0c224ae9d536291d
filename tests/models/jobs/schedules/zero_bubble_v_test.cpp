#include <doctest/doctest.h>

#include "models/jobs/schedules/execution.h"
#include "tests/models/jobs/schedules/divided_passes.h"

using foretrace::most_in_flight;
using foretrace::PipelineTimes;
using foretrace::ScheduleInfo;
using foretrace::ScheduleShape;
using foretrace::test::divided_shapes;
using foretrace::test::equal_passes;
using foretrace::test::longest_pauses;
using foretrace::test::run;
using foretrace::test::schedule;

TEST_CASE("zero_bubble_v: equal passes leave no pause in the memory of 1F1B") {
  const ScheduleInfo& one = schedule("zero_bubble_v");
  for (ScheduleShape shape : divided_shapes()) {
    shape.chunks = 2;
    const PipelineTimes times = equal_passes(shape, {5, 5, 5});
    CHECK(longest_pauses(times, run(one, times)) == 0);
    // 2 p chunks, each half of a stage: p micro-batches
    for (std::uint32_t stage = 0; stage < shape.stages; ++stage) {
      CHECK(most_in_flight(one, shape, stage) == 2 * shape.stages);
    }
  }
}
