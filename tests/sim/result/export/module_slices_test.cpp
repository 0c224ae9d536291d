// Phases and modules over time.
#include "sim/result/export/module_slices.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "sim/graph/graph_builder.h"

namespace foretrace {
namespace {

struct Operation {
  std::string layer;
  Phase phase = Phase::forward;
  std::int32_t step = 0;
  std::size_t stream = 0;
};

/// Operations of 10 ns that follow each other on each of two streams. There are as many steps
/// as operations, so that any small number is one.
TaskGraph run_of(const std::vector<Operation>& operations) {
  GraphBuilder builder;
  std::vector<LaneId> streams;
  for (std::int64_t number = 0; number < 2; ++number) {
    streams.push_back(
        builder.add_lane({.kind = LaneKind::stream, .device = 0, .number = number, .name = {}}));
  }
  for (const Operation& operation : operations) {
    Work work;
    work.name = builder.add_name("k");
    work.kind = TaskKind::kernel;
    TaskSpec task;
    task.lane = streams[operation.stream];
    task.work = builder.add_work(work);
    task.kind = TaskKind::kernel;
    task.duration_ns = 10;
    task.phase = operation.phase;
    task.step = operation.step;
    task.layer = builder.add_layer(operation.layer);
    const TaskId added = builder.add_task(task);
    builder.add_step({.number = operation.step, .begin = added, .end = added});
  }
  Result<TaskGraph> graph = std::move(builder).build();
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  return std::move(graph).value();
}

/// "forward 0-20 ", two blanks before each module inside another.
std::string text_of(const TaskGraph& graph, LaneId stream) {
  std::string text;
  const Timeline timeline = simulate(graph);
  for (const ModuleSlice& slice : module_slices(graph, timeline, stream)) {
    text += std::string(2 * slice.depth, ' ') + std::string(slice.name) + ' ' +
            std::to_string(slice.begin_ns) + '-' + std::to_string(slice.end_ns) + '\n';
  }
  return text;
}

}  // namespace

TEST_CASE("modules: operations in a row share a slice on every level that they have in common") {
  const TaskGraph graph =
      run_of({{"Net/A"}, {"Net/A"}, {"Net/B"}, {"Net"}, {"Net/A", Phase::backward}});
  CHECK(text_of(graph, make_id<LaneId>(0)) ==
        "forward 0-40\n"
        "  Net 0-40\n"
        "    A 0-20\n"
        "    B 20-30\n"
        "backward 40-50\n"
        "  Net 40-50\n"
        "    A 40-50\n");
}

TEST_CASE("modules: another step begins new slices, what is in no module is in its phase") {
  const TaskGraph graph =
      run_of({{"A", Phase::forward, 0}, {"A", Phase::forward, 1}, {"", Phase::update, 1}});
  CHECK(text_of(graph, make_id<LaneId>(0)) ==
        "forward 0-10\n"
        "  A 0-10\n"
        "forward 10-20\n"
        "  A 10-20\n"
        "update 20-30\n");
}

TEST_CASE("modules: the stream that works longest in modules stands for its device") {
  const std::vector<Operation> operations = {
      {"", Phase::forward, 0, 0}, {"", Phase::forward, 0, 0}, {"A", Phase::forward, 0, 1}};
  const std::vector<LaneId> streams = module_streams(run_of(operations));
  REQUIRE(streams.size() == 1);
  CHECK(streams[0] == make_id<LaneId>(1));
  CHECK(module_streams(run_of({{""}})).empty());
}

}  // namespace foretrace
