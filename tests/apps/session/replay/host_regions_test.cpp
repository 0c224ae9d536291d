#include "apps/session/replay/host_regions.h"

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "sim/graph/graph_builder.h"

namespace foretrace {
namespace {

/// One thread: 30 ns in "loader" and 5 outside before a call of 10, 20 ns in "loader" before the
/// next.
TaskGraph graph_with_regions() {
  GraphBuilder builder;
  const LaneId lane = builder.add_lane({.kind = LaneKind::host_thread, .name = "main"});
  Work work;
  work.name = builder.add_name("call");
  work.kind = TaskKind::launch;
  TaskSpec spec;
  spec.lane = lane;
  spec.work = builder.add_work(work);
  spec.kind = TaskKind::launch;
  spec.duration_ns = 10;
  spec.segment_ns = 35;
  const NameId loader = builder.add_name("loader");
  const TaskId first = builder.add_task(spec);
  spec.segment_ns = 20;
  const TaskId second = builder.add_task(spec);
  builder.add_segment_part({.task = first, .label = loader, .duration_ns = 30});
  builder.add_segment_part({.task = second, .label = loader, .duration_ns = 20});
  return *std::move(builder).build();
}

TEST_CASE("host time on the path is split by region, each simulated without it") {
  const TaskGraph graph = graph_with_regions();
  const Timeline timeline = simulate(graph);
  REQUIRE(timeline.span_ns == 75);  // 35 + 10 + 20 + 10
  const auto regions = host_regions(graph, critical_path(graph, timeline));
  REQUIRE(regions.size() == 2);
  CHECK(regions[0].label == "loader");
  CHECK(regions[0].on_path_ns == 50);
  CHECK(regions[0].gain_ns == 50);
  CHECK(regions[0].tasks == 2);
  CHECK(regions[1].label == "");
  CHECK(regions[1].on_path_ns == 5);
  CHECK(regions[1].gain_ns == 5);
}

TEST_CASE("of a segment that begins before the window only its end counts") {
  const TaskGraph graph = graph_with_regions();
  const Timeline timeline = simulate(graph);
  // From 25 on 5 of the first 30 in the loader are left, and the 5 outside.
  const auto path = critical_path(graph, timeline, {none<TaskId>, 25});
  const auto regions = host_regions(graph, path);
  std::int64_t host = 0;
  for (const PathGroup& region : regions) {
    host += region.on_path_ns;
  }
  CHECK(host == 30);  // 10 of the first segment, 20 of the second
}

TEST_CASE("the largest regions are kept") {
  const TaskGraph graph = graph_with_regions();
  const Timeline timeline = simulate(graph);
  CHECK(host_regions(graph, critical_path(graph, timeline), {.count = 1}).size() == 1);
}

}  // namespace
}  // namespace foretrace
