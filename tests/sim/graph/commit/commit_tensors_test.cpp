// Tensors of a change.
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/graph/change.h"
#include "sim/graph/graph_builder.h"

namespace foretrace {
namespace {

/// Two host tasks, each after a segment of 100 ns, and a tensor from 40 ns before the end of the
/// first segment to the start of the second task.
TaskGraph two_tasks() {
  GraphBuilder builder;
  const LaneId lane = builder.add_lane({.kind = LaneKind::host_thread, .name = ""});
  const WorkId work = builder.add_work({.kind = TaskKind::host});
  for (int i = 0; i < 2; ++i) {
    builder.add_task({.lane = lane, .work = work, .kind = TaskKind::host, .segment_ns = 100});
  }
  builder.add_tensor({.bytes = 64,
                      .requested_bytes = 60,
                      .allocated_in = TaskId{0},
                      .freed_in = TaskId{1},
                      .allocated_offset_ns = 40});
  auto built = std::move(builder).build();
  REQUIRE(built.ok());
  return std::move(built).value();
}

std::vector<Tensor> tensors_after(const TaskGraph& graph, const Change& change) {
  auto committed = commit(graph, change);
  REQUIRE_MESSAGE(committed.ok(), committed.error().message);
  return committed->graph.context().tensors;
}

TEST_CASE("commit: a tensor edit changes the size and nothing else, on both paths") {
  const TaskGraph graph = two_tasks();
  Change change;
  change.tensors.push_back({.tensor = TensorId{0}, .bytes = 32, .requested_bytes = 30});
  CHECK(!change.empty());
  CHECK(!change.changes_topology());
  const auto light = tensors_after(graph, change);
  change.removed.push_back({TaskId{1}});
  const auto heavy = tensors_after(graph, change);
  for (const auto& tensors : {light, heavy}) {
    REQUIRE(tensors.size() == 1);
    CHECK(tensors[0].bytes == 32);
    CHECK(tensors[0].requested_bytes == 30);
    CHECK(tensors[0].provenance == Provenance::scaled);
    CHECK(tensors[0].allocated_in == TaskId{0});
    CHECK(tensors[0].allocated_offset_ns == 40);
  }
}

TEST_CASE("commit: a new tensor lives between tasks of the change and brings its name") {
  const TaskGraph graph = two_tasks();
  Change change;
  change.inserted.push_back({.task = {.kind = TaskKind::host}, .anchor = TaskId{0}});
  Tensor tensor{.bytes = 8, .allocated_in = TaskId{2}, .freed_in = TaskId{1}};
  tensor.operator_name = change.names.intern("aten::mm");
  change.new_tensors.push_back(tensor);
  auto committed = commit(graph, change);
  REQUIRE(committed.ok());
  const auto& tensors = committed->graph.context().tensors;
  REQUIRE(tensors.size() == 2);
  CHECK(tensors[1].allocated_in == TaskId{1});  // inserted between both
  CHECK(tensors[1].freed_in == TaskId{2});
  CHECK(committed->graph.names()[tensors[1].operator_name] == "aten::mm");
}

TEST_CASE("commit: a moment in a segment moves with the segment's length") {
  const TaskGraph graph = two_tasks();
  Change change;
  change.segments.push_back({TaskId{0}, 25});  // a quarter of 100 ns: 40 ns become 10
  CHECK(tensors_after(graph, change)[0].allocated_offset_ns == 10);
  change.segments[0].segment_ns = 100;
  CHECK(tensors_after(graph, change)[0].allocated_offset_ns == 40);
}

TEST_CASE("commit: tensor edits that make no sense are refused") {
  const TaskGraph graph = two_tasks();
  Change change;
  change.tensors.push_back({.tensor = TensorId{1}, .bytes = 32});
  CHECK(commit(graph, change).error().message ==
        "tensor edit: tensor 1 does not exist, got 1 tensors");
  change.tensors[0] = {.tensor = TensorId{0}, .bytes = -1};
  CHECK(commit(graph, change).error().message ==
        "tensor edit: got -1 bytes, expected none or more");
  change.tensors.clear();
  change.new_tensors.push_back({.bytes = 1, .allocated_in = TaskId{7}});
  CHECK(!commit(graph, change).ok());
  change.new_tensors[0] = {.bytes = 1, .operator_name = NameId{3}};
  CHECK(!commit(graph, change).ok());
}

}  // namespace
}  // namespace foretrace
