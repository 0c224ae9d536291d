#include "sim/graph/graph_builder.h"

#include <doctest/doctest.h>

#include "sim/engine/pull.h"

using namespace foretrace;

namespace {

struct Two {
  GraphBuilder builder;
  LaneId host = builder.add_lane({LaneKind::host_thread, 0, no_device, 1, 0, "host"});
  LaneId stream = builder.add_lane({LaneKind::stream, 0, 0, 7, 0, "stream"});
  TaskId add(LaneId lane, TaskKind kind, std::int64_t duration, std::int64_t segment = 0) {
    Work work;
    work.kind = kind;
    work.name = builder.add_name("t" + std::to_string(builder.size()));
    return builder.add_task({lane, builder.add_work(work), kind, duration, segment});
  }
};

}  // namespace

TEST_CASE("graph builder: a kernel waits for its launch and for its stream") {
  Two g;
  const TaskId launch = g.add(g.host, TaskKind::launch, 5);
  const TaskId kernel = g.add(g.stream, TaskKind::kernel, 20);
  const TaskId launch2 = g.add(g.host, TaskKind::launch, 5, 1);
  const TaskId kernel2 = g.add(g.stream, TaskKind::kernel, 10, 2);
  g.builder.add_dependency({end_of(launch), kernel, DependencyKind::launch, 3});
  g.builder.add_dependency({end_of(launch2), kernel2, DependencyKind::launch, 3});
  auto graph = std::move(g.builder).build();
  REQUIRE(graph.ok());
  const Timeline timeline = simulate(*graph);
  CHECK(timeline.start_ns(kernel) == 8);
  CHECK(timeline.end_ns(launch2) == 11);
  CHECK(timeline.start_ns(kernel2) == 30);  // 8 + 20 + gap 2
  CHECK(timeline.span_ns == 40);
}
