// Tensors of a change.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "sim/graph/change.h"
#include "sim/graph/graph_builder.h"
#include "tests/sim/graph/random_change.h"

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

/// Tensors of each host thread as it allocates (+) and frees (-) them, in the order of the program.
std::map<LaneId, std::vector<std::string>> program_of(const TaskGraph& graph) {
  using Place = std::tuple<LaneId, TaskId, std::int64_t, std::uint32_t, int, std::size_t>;
  std::vector<Place> places;
  const auto& tensors = graph.context().tensors;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    const bool at_once = t.allocated_in == t.freed_in && t.allocated_offset_ns == t.freed_offset_ns;
    if (t.allocated_in != none<TaskId>) {
      places.emplace_back(graph.lane_id(t.allocated_in), t.allocated_in, -t.allocated_offset_ns,
                          t.allocated_sequence, 1, i);
    }
    if (t.freed_in != none<TaskId>) {
      places.emplace_back(graph.lane_id(t.freed_in), t.freed_in, -t.freed_offset_ns,
                          t.freed_sequence, at_once ? 2 : 0, i);
    }
  }
  std::sort(places.begin(), places.end());
  std::map<LaneId, std::vector<std::string>> program;
  for (const auto& [lane, task, offset, sequence, action, tensor] : places) {
    program[lane].push_back((action == 1 ? "+" : "-") + std::to_string(tensor));
  }
  return program;
}

/// Host calls with tensors between them: what is allocated lives for a few calls.
TaskGraph random_program(std::mt19937& random) {
  GraphBuilder builder;
  const WorkId work = builder.add_work({.kind = TaskKind::host});
  std::vector<std::vector<TaskId>> threads(2);
  const std::array<LaneId, 2> lanes = {
      builder.add_lane({.kind = LaneKind::host_thread, .name = "forward"}),
      builder.add_lane({.kind = LaneKind::host_thread, .name = "backward"})};
  for (int i = 0; i < 24; ++i) {
    const std::size_t thread = random() % 2;
    threads[thread].push_back(
        builder.add_task({.lane = lanes[thread],
                          .work = work,
                          .kind = TaskKind::host,
                          .segment_ns = static_cast<std::int64_t>(10 * (random() % 4))}));
  }
  for (int i = 0; i < 40; ++i) {
    const auto& calls = threads[random() % 2];
    if (calls.empty()) continue;
    const std::size_t first = random() % calls.size();
    const std::size_t last = std::min(calls.size() - 1, first + random() % 4);
    Tensor tensor{.bytes = 64, .allocated_in = calls[first], .freed_in = calls[last]};
    tensor.allocated_offset_ns = 5 * static_cast<std::int64_t>(random() % 3);
    if (first == last) tensor.freed_offset_ns = 0;
    builder.add_tensor(tensor);
  }
  auto built = std::move(builder).build();
  REQUIRE(built.ok());
  return std::move(built).value();
}

/// Takes tasks out at random; `stays` are never taken.
Change without_some(const TaskGraph& graph, std::mt19937& random, TaskId stays) {
  Change change;
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = make_id<TaskId>(t);
    if (task == stays || random() % 3 == 0) continue;
    change.removed.push_back({task, random() % 2 == 0 ? SegmentOf::keep : SegmentOf::take});
  }
  return change;
}

/// Lanes without a task left have no moments: theirs are before or behind the window.
void check_order(const TaskGraph& before, const TaskGraph& after) {
  const auto program = program_of(before);
  for (const auto& [lane, now] : program_of(after)) CHECK(now == program.at(lane));
}

TEST_CASE("law: calls that go, with their host time or without, leave the order of tensors") {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const TaskGraph graph = random_program(random);
    const Change change = without_some(graph, random, make_id<TaskId>(random() % graph.size()));
    const auto committed = commit(graph, change);
    REQUIRE_MESSAGE(committed.ok(), committed.error().message);
    CHECK_FALSE(program_of(committed->graph).empty());
    check_order(graph, committed->graph);
  }
}

TEST_CASE("commit: what the last calls freed goes after what is allocated in a call before them") {
  const TaskGraph graph = two_tasks();
  Change change;
  change.inserted.push_back({.task = {.kind = TaskKind::host}, .anchor = TaskId{0}});
  change.new_tensors.push_back({.bytes = 8, .allocated_in = TaskId{2}});
  change.new_tensors[0].operator_name = change.names.intern("aten::mm");
  change.removed.push_back({TaskId{1}});
  const auto committed = commit(graph, change);
  REQUIRE_MESSAGE(committed.ok(), committed.error().message);
  CHECK(program_of(committed->graph).at(LaneId{0}) == std::vector<std::string>{"+0", "+1", "-0"});
}

TEST_CASE(
    "law: so it is on graphs of several streams, threads and ranks that wait for each other") {
  std::mt19937 random(5);
  std::size_t moments = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    test::Choices choices(seed);
    const TaskGraph graph = test::random_graph(choices);
    const auto committed = commit(graph, without_some(graph, random, none<TaskId>));
    if (!committed.ok()) continue;  // what a rule waits for may be gone
    check_order(graph, committed->graph);
    for (const auto& [lane, program] : program_of(committed->graph)) moments += program.size();
  }
  CHECK(moments > 300);
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
