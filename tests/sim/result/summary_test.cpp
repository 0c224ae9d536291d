#include "sim/result/summary.h"

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "tests/sim/engine/random_graph.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace {
namespace {

Summary whole(const TaskGraph& graph) {
  const Timeline timeline = simulate(graph);
  return summarize(graph, timeline, {.end_ns = timeline.span_ns});
}

TEST_CASE("summary: each instant counts once, by what the device does, then the host") {
  // h: launch 10..14, k 20..120 after a latency of 6 in which the host is at work already (host
  // bound 0..20), launch 2 at 44..48, copy on its own direction 48+2=50..150: 30 ns of it after k.
  // Completion 5 later: idle.
  const TaskGraph graph =
      test::graph("h:l(4,10) s:k(100)<l+6 h:l2(4,30) c:copy(100)<l2+2 h:wait(0)~*+5");
  const Summary summary = whole(graph);
  CHECK(summary.breakdown.host_bound_ns == 20);
  CHECK(summary.breakdown.compute_ns == 100);
  CHECK(summary.breakdown.memory_copy_ns == 30);
  CHECK(summary.breakdown.idle_ns == 5);
  CHECK(summary.breakdown.total_ns() == 155);
  CHECK(summary.device_busy_ns == 130);
  CHECK(summary.lane_busy_ns == std::vector<std::int64_t>{8, 100, 100});
}

TEST_CASE("summary: a thread that never launches does not make the device host bound") {
  const TaskGraph graph = test::graph("h1:l(1) s:k(5)<l h2:other(50)");
  const Summary summary = whole(graph);
  CHECK(summary.breakdown.host_bound_ns == 1);
  CHECK(summary.breakdown.idle_ns == 44);
}

TEST_CASE("summary: of a run that launches nothing every thread counts as host work") {
  const Summary summary = whole(test::graph("h1:read(30) h2:write(50)"));
  CHECK(summary.breakdown.host_bound_ns == 50);
  CHECK(summary.breakdown.idle_ns == 0);
}

TEST_CASE("summary: a thread that a launching one waits for makes the device host bound") {
  // k 1..6; the writer works until 50, m is launched behind it: 50..51.
  const TaskGraph graph = test::graph("h1:l(1) s:k(5)<l h2:write(50) h1:l2(1)<write s:m(4)<l2");
  const Summary summary = whole(graph);
  CHECK(summary.breakdown.compute_ns == 9);
  CHECK(summary.breakdown.host_bound_ns == 1 + 45);
  CHECK(summary.breakdown.idle_ns == 0);
}

TEST_CASE("summary: a thread that begins and ends the steps works in them, launching or not") {
  GraphBuilder builder;
  const LaneId marks = builder.add_lane({.kind = LaneKind::host_thread, .name = "main"});
  const LaneId worker = builder.add_lane({.kind = LaneKind::host_thread, .number = 2, .name = ""});
  const WorkId work = builder.add_work(Work{});
  const auto add = [&](LaneId lane, TaskKind kind, std::int64_t ns, std::int64_t segment) {
    return builder.add_task(
        {.lane = lane, .work = work, .kind = kind, .duration_ns = ns, .segment_ns = segment});
  };
  const TaskId begin = add(marks, TaskKind::mark, 0, 0);
  add(worker, TaskKind::launch, 5, 0);
  const TaskId end = add(marks, TaskKind::mark, 0, 70);
  builder.add_step({0, 1, begin, end});
  auto graph = std::move(builder).build();
  REQUIRE(graph.ok());
  const Summary summary = whole(*graph);
  CHECK(summary.breakdown.host_bound_ns == 70);
  CHECK(summary.breakdown.idle_ns == 0);
}

TEST_CASE("summary: communication under a kernel is overlapped, the rest exposed") {
  // Collective 0..100, kernel 30..60.
  const TaskGraph graph = test::graph("s1:reduce(100)=collective s2:k(30,30)");
  const Summary summary = whole(graph);
  CHECK(summary.breakdown.communication_exposed_ns == 70);
  CHECK(summary.breakdown.communication_overlapped_ns == 30);
  CHECK(summary.breakdown.compute_ns == 30);
  CHECK(summary.device_busy_ns == 100);
}

TEST_CASE("summary: a collective in two parts waits from its arrival until its finish starts") {
  GraphBuilder builder;
  const LaneId lane = builder.add_lane({.kind = LaneKind::stream, .device = 0, .name = ""});
  const LaneId peer =
      builder.add_lane({.kind = LaneKind::stream, .rank = 1, .device = 0, .name = ""});
  const auto work = [&builder](TaskPart part) {
    Work w;
    w.kind = TaskKind::collective;
    w.part = part;
    return builder.add_work(w);
  };
  const auto task = [&builder](LaneId on, WorkId what, TaskKind kind, std::int64_t ns) {
    return builder.add_task({.lane = on, .work = what, .kind = kind, .duration_ns = ns});
  };
  const WorkId kernel = builder.add_work({.kind = TaskKind::kernel});
  task(lane, kernel, TaskKind::kernel, 10);
  const TaskId arrive = task(lane, work(TaskPart::begin), TaskKind::collective, 2);
  const TaskId late = task(peer, kernel, TaskKind::kernel, 50);
  const TaskId transfer = task(lane, work(TaskPart::finish), TaskKind::collective, 20);
  builder.add_dependency({end_of(late), transfer, DependencyKind::rendezvous});
  auto graph = std::move(builder).build();
  REQUIRE(graph.ok());
  (void)arrive;
  const Summary summary = whole(*graph);  // of rank 0: 10 kernel, 2 + 38 waiting, 20 transfer
  CHECK(summary.breakdown.compute_ns == 10);
  CHECK(summary.breakdown.communication_waiting_ns == 40);
  CHECK(summary.breakdown.communication_exposed_ns == 20);
  CHECK(summary.breakdown.total_ns() == 70);
  CHECK(summary.lane_busy_ns[1] == 0);
}

TEST_CASE("summary: phases count device time, clipped to the window") {
  GraphBuilder builder;
  const LaneId lane = builder.add_lane({.kind = LaneKind::stream, .device = 0, .name = ""});
  const WorkId work = builder.add_work({.kind = TaskKind::kernel});
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    builder.add_task(
        {.lane = lane, .work = work, .kind = TaskKind::kernel, .duration_ns = 100, .phase = phase});
  }
  auto graph = std::move(builder).build();
  REQUIRE(graph.ok());
  const Summary summary = summarize(*graph, simulate(*graph), {.begin_ns = 40, .end_ns = 130});
  CHECK(summary.phase_device_ns[static_cast<std::size_t>(Phase::forward)] == 60);
  CHECK(summary.phase_device_ns[static_cast<std::size_t>(Phase::backward)] == 30);
  CHECK(summary.breakdown.total_ns() == 90);
}

TEST_CASE("summary: any window of any graph is split exactly") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const TaskGraph graph = test::random_graph({.tasks = 300, .lanes = 6, .seed = seed});
    const Timeline timeline = simulate(graph);
    const std::int64_t third = timeline.span_ns / 3;
    for (const Window& window :
         {Window{0, timeline.span_ns}, Window{third, 2 * third}, Window{-50, 10},
          Window{timeline.span_ns - 5, timeline.span_ns + 100}, Window{7, 7}}) {
      const Summary summary = summarize(graph, timeline, window);
      CHECK(summary.breakdown.total_ns() == window.end_ns - window.begin_ns);
      CHECK(summary.device_busy_ns <= window.end_ns - window.begin_ns);
    }
  }
}

}  // namespace
}  // namespace foretrace
