#include "models/editing/kernels/launch_times.h"

#include <doctest/doctest.h>

#include "sim/graph/links.h"
#include "tests/models/toy_run.h"

using foretrace::TaskGraph;
using foretrace::TaskId;
using foretrace::editing::RepeatedLaunches;
using foretrace::test::ToyRun;

namespace {

RepeatedLaunches::Times times_of(const TaskGraph& graph, std::size_t nth) {
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = foretrace::make_id<TaskId>(t);
    if (graph.kind(task) != foretrace::TaskKind::kernel || nth-- > 0) continue;
    return RepeatedLaunches(graph).of(task, foretrace::launch_of(graph, task));
  }
  return {};
}

}  // namespace

TEST_CASE("repeated launches: what a first launch does is not done again") {
  ToyRun run;
  // The first one loads its code for 20 ms, after 30 ms of compilation.
  run.kernel(
      {.name = "norm", .duration_ns = 10, .launch_ns = 20'000'000, .segment_ns = 30'000'000});
  run.kernel({.name = "norm", .duration_ns = 10, .launch_ns = 5'000, .segment_ns = 40'000});
  run.kernel({.name = "norm", .duration_ns = 10, .launch_ns = 6'000, .segment_ns = 50'000});
  const auto graph = run.build();
  CHECK(times_of(graph, 0).call_ns == 5'000);
  CHECK(times_of(graph, 0).host_ns == 40'000);
  CHECK(times_of(graph, 2).call_ns == 6'000);  // others as recorded
  CHECK(times_of(graph, 2).host_ns == 50'000);
}

TEST_CASE("repeated launches: a lone long launch costs what others do, a short one what it did") {
  ToyRun run;
  for (int i = 0; i < 3; ++i) {
    run.kernel({.name = "relu", .duration_ns = 10, .launch_ns = 5'000, .segment_ns = 10'000});
  }
  run.kernel({.name = "once", .duration_ns = 10, .launch_ns = 9'000'000, .segment_ns = 400'000});
  const auto graph = run.build();
  CHECK(times_of(graph, 3).call_ns == 5'000);
  CHECK(times_of(graph, 3).host_ns == 400'000);  // slow, but no loading of code
}
