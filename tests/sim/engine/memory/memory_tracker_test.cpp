#include "sim/engine/memory/memory_tracker.h"

#include <array>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "sim/graph/graph_builder.h"

namespace foretrace {
namespace {

constexpr auto category(TensorCategory c) { return static_cast<std::size_t>(c); }

/// Host tasks of 10 ns, each after a segment of 100 ns: segments end at 100, 210, 320, ...
struct Program {
  GraphBuilder builder;
  LaneId host{};
  WorkId work{};
  Program() {
    host = builder.add_lane({.kind = LaneKind::host_thread, .name = ""});
    work = builder.add_work({.kind = TaskKind::host});
  }
  TaskId call() {
    return builder.add_task(
        {.lane = host, .work = work, .kind = TaskKind::host, .duration_ns = 10, .segment_ns = 100});
  }
  TaskGraph graph() {
    auto built = std::move(builder).build();
    REQUIRE(built.ok());
    return std::move(built).value();
  }
};

TEST_CASE("memory: the peak counts what is live, with its categories and its time") {
  Program program;
  const TaskId a = program.call();
  const TaskId b = program.call();
  const TaskId c = program.call();
  program.builder.add_tensor({.bytes = 1000, .category = TensorCategory::weight});
  program.builder.add_tensor({.bytes = 300,
                              .category = TensorCategory::activation,
                              .allocated_in = a,
                              .freed_in = c,
                              .allocated_offset_ns = 40});
  program.builder.add_tensor({.bytes = 50,
                              .category = TensorCategory::temporary,
                              .allocated_in = b,
                              .freed_in = b,
                              .allocated_offset_ns = 30,
                              .freed_offset_ns = 20});
  program.builder.add_tensor({.bytes = 200,
                              .category = TensorCategory::gradient,
                              .allocated_in = c,
                              .freed_offset_ns = 0});
  const TaskGraph graph = program.graph();
  const auto curves = track_memory(graph, simulate(graph));
  REQUIRE(curves.size() == 1);
  const MemoryCurve& curve = curves[0];
  CHECK(curve.base_bytes == 1000);
  CHECK(curve.peak_bytes == 1350);
  CHECK(curve.peak_at_ns == 210 - 30);
  CHECK(curve.peak_task == b);
  CHECK(curve.at_peak[category(TensorCategory::weight)] == 1000);
  CHECK(curve.at_peak[category(TensorCategory::activation)] == 300);
  CHECK(curve.at_peak[category(TensorCategory::temporary)] == 50);
  CHECK(curve.at_peak[category(TensorCategory::gradient)] == 0);
  CHECK(curve.end_bytes == 1200);
  REQUIRE(curve.points.size() == 5);
  CHECK(curve.points[0].time_ns == 60);
  CHECK(curve.points[0].live_bytes == 1300);
  CHECK(curve.points[2].live_bytes == 1300);
  // In the same place the free comes first: 1000, then 1200; not 1500.
  CHECK(curve.points[3].live_bytes == 1000);
  CHECK(curve.points[4].live_bytes == 1200);
}

TEST_CASE("memory: order is the host program's even where time stamps would say otherwise") {
  // The tensor of b is freed by b although b's segment ends late: the wait does not reorder.
  Program program;
  const TaskId a = program.call();
  const TaskId b = program.call();
  program.builder.add_tensor(
      {.bytes = 10, .allocated_in = a, .freed_in = b, .freed_offset_ns = 1000});  // before a's time
  const TaskGraph graph = program.graph();
  const auto curves = track_memory(graph, simulate(graph));
  REQUIRE(curves[0].points.size() == 2);
  CHECK(curves[0].points[0].live_bytes == 10);
  CHECK(curves[0].points[0].time_ns == 100);
  CHECK(curves[0].points[1].time_ns == 110);  // where b's segment begins, and no earlier
}

TEST_CASE("memory: a tensor that comes and goes in one place still counts for the peak") {
  Program program;
  const TaskId a = program.call();
  program.builder.add_tensor({.bytes = 10, .allocated_in = a, .freed_in = a});
  const TaskGraph graph = program.graph();
  const auto curves = track_memory(graph, simulate(graph));
  CHECK(curves[0].peak_bytes == 10);
  CHECK(curves[0].end_bytes == 0);
}

TEST_CASE("memory: ranks and devices have curves of their own; without tensors there is none") {
  Program program;
  const LaneId other =
      program.builder.add_lane({.kind = LaneKind::host_thread, .rank = 1, .name = ""});
  const TaskId a = program.call();
  const TaskId b = program.builder.add_task({.lane = other, .work = program.work});
  program.builder.add_tensor({.bytes = 1, .device = 1, .allocated_in = a});
  program.builder.add_tensor({.bytes = 2, .device = 0, .allocated_in = a});
  program.builder.add_tensor({.bytes = 4, .device = 0, .freed_in = b});
  const TaskGraph graph = program.graph();
  const auto curves = track_memory(graph, simulate(graph));
  REQUIRE(curves.size() == 3);
  CHECK(curves[0].peak_bytes == 2);
  CHECK(curves[1].peak_bytes == 1);
  CHECK(curves[2].rank == 1);
  CHECK(curves[2].base_bytes == 4);
  CHECK(curves[2].end_bytes == 0);
  CHECK(track_memory(TaskGraph(), Timeline()).empty());
}

TEST_CASE("memory: threads interleave by simulated time, equal times as recorded") {
  // Two threads whose segments end at 100. On the second one 8 B come at 70 and 16 B at 90; on the
  // first 1 B come at 80, 2 B at 90 (recorded before the 16 B), and 4 B at 95.
  GraphBuilder builder;
  const WorkId work = builder.add_work({.kind = TaskKind::host});
  std::array<TaskId, 2> tasks{};
  for (TaskId& task : tasks) {
    const LaneId lane = builder.add_lane({.kind = LaneKind::host_thread, .name = ""});
    task =
        builder.add_task({.lane = lane, .work = work, .kind = TaskKind::host, .segment_ns = 100});
  }
  const auto add = [&](std::int64_t bytes, std::size_t thread, std::int64_t before,
                       std::uint32_t sequence) {
    builder.add_tensor({.bytes = bytes,
                        .allocated_in = tasks.at(thread),
                        .allocated_offset_ns = before,
                        .allocated_sequence = sequence});
  };
  add(8, 1, 30, 0);
  add(1, 0, 20, 1);
  add(2, 0, 10, 2);
  add(16, 1, 10, 3);
  add(4, 0, 5, 4);
  auto built = std::move(builder).build();
  REQUIRE(built.ok());
  const auto curves = track_memory(*built, simulate(*built));
  REQUIRE(curves.size() == 1);
  std::vector<std::int64_t> live;
  for (const MemoryPoint& point : curves[0].points) live.push_back(point.live_bytes);
  CHECK(live == std::vector<std::int64_t>{8, 9, 11, 27, 31});
  CHECK(curves[0].peak_point == 4);
  CHECK(live_tensors(*built, curves[0], 2) ==
        std::vector<TensorId>{TensorId{0}, TensorId{1}, TensorId{2}});
  CHECK(live_tensors(*built, curves[0], no_memory_point).empty());
}

TEST_CASE("memory: a tensor is not freed on one thread before it came on another") {
  // The thread that frees is at 50, the one that allocates at 80: the free happens at 80, too.
  GraphBuilder builder;
  const WorkId work = builder.add_work({.kind = TaskKind::host});
  const LaneId first = builder.add_lane({.kind = LaneKind::host_thread, .name = ""});
  const LaneId second = builder.add_lane({.kind = LaneKind::host_thread, .name = ""});
  const TaskId frees =
      builder.add_task({.lane = first, .work = work, .kind = TaskKind::host, .segment_ns = 50});
  const TaskId allocates =
      builder.add_task({.lane = second, .work = work, .kind = TaskKind::host, .segment_ns = 80});
  builder.add_tensor({.bytes = 7, .allocated_in = allocates, .freed_in = frees});
  auto built = std::move(builder).build();
  REQUIRE(built.ok());
  const auto curves = track_memory(*built, simulate(*built));
  REQUIRE(curves.size() == 1);
  REQUIRE(curves[0].points.size() == 2);
  CHECK(curves[0].points[0].live_bytes == 7);
  CHECK(curves[0].points[1].live_bytes == 0);
  CHECK(curves[0].points[1].time_ns == 80);
}

}  // namespace
}  // namespace foretrace
