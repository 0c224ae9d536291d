#include <doctest/doctest.h>

#include "tests/trace/rules/table_builder.h"
#include "trace/rules/build_graph.h"

namespace foretrace::trace {

TEST_CASE("threads: one whose only call ends before it begins stays, and the others keep theirs") {
  TableBuilder t;
  const EventId broken = t.call(t.thread(1), "cudaLaunchKernel", 100, 5);
  t.table().duration_ns[index(broken)] = -5000;
  t.work(broken, t.stream(7), 110, 10);
  const EventId call = t.call(t.thread(2), "cudaLaunchKernel", 200, 5);
  t.work(call, t.stream(8), 217, 30);
  const Result<BuiltGraph> built = build_graph(t.table());
  REQUIRE(built.ok());
  const TaskGraph& graph = built->graph;
  std::size_t launches = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.kind(task) == TaskKind::launch) {
      ++launches;
      CHECK(graph.lane(task).number == (built->recorded_start_ns[i] == 0 ? 1 : 2));
    }
    CHECK(graph.weights().duration_ns->at(i) >= 0);
  }
  CHECK(launches == 2);
}

}  // namespace foretrace::trace
