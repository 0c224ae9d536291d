#include <doctest/doctest.h>

#include "models/jobs/schedules/execution.h"
#include "tests/models/jobs/schedules/divided_passes.h"

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

TEST_CASE("dual_pipe_v: the bubble is at most what its authors state, with 2 p + 1 in flight") {
  const ScheduleInfo& one = schedule("dual_pipe_v");
  for (ScheduleShape shape : divided_shapes()) {
    shape.chunks = 2;
    for (const Passes& p : divided_passes()) {
      const PipelineTimes times = equal_passes(shape, p);
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
