#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "sim/engine/reactions.h"
#include "tests/trace/rules/table_builder.h"
#include "trace/rules/build_graph.h"

namespace foretrace::trace {
namespace {

std::int64_t span_ns(const TaskGraph& graph, const Weights& weights) {
  Timeline timeline;
  simulate(graph.topology(), weights, timeline);
  return timeline.span_ns;
}

/// The task of this name; `which` counts from 0.
TaskId task_called(const TaskGraph& graph, std::string_view name, std::size_t which = 0) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (graph.name(make_id<TaskId>(i)) == name && which-- == 0) {
      return make_id<TaskId>(i);
    }
  }
  return none<TaskId>;
}

}  // namespace

TEST_CASE("device start: a kernel that starts as its long first launch returns hangs on the end") {
  TableBuilder t;
  // Launches of 5 us, and one of 40 ms that loads a module first: its kernel starts 8 us before it
  // returns, on a second stream beside work of the first.
  for (int i = 0; i < 5; ++i) {
    const EventId call = t.call(t.thread(1), "cudaLaunchKernel", 20.0 * i, 5);
    t.work(call, t.stream(7), 20.0 * i + 7, 2);
  }
  const EventId first = t.call(t.thread(1), "cudaLaunchKernel", 100, 40'000);
  t.work(first, t.stream(7), 40'092, 30, "lazy");
  const EventId next = t.call(t.thread(1), "cudaLaunchKernel", 40'110, 5);
  t.work(next, t.stream(20), 40'117, 30);
  const Result<BuiltGraph> built = build_graph(t.table());
  REQUIRE(built.ok());
  CHECK(built->honesty.unexplained_device_ns == 0);
  CHECK(built->honesty.unexplained_device_count == 0);
  CHECK(built->honesty.first_use_ns > 39'000'000);
  CHECK(built->honesty.flags == std::vector<std::string>{"first use"});
  const TaskGraph& graph = built->graph;
  CHECK(span_ns(graph, graph.weights()) == 40'147'000);
  // Without the loading the kernel comes right away: the launch is all that it waits for.
  Weights quick = graph.weights();
  std::vector<std::int64_t> durations = *quick.duration_ns;
  for (std::int64_t& duration : durations) {
    duration = duration == 40'000'000 ? 5'000 : duration;
  }
  quick.duration_ns = std::make_shared<const std::vector<std::int64_t>>(durations);
  CHECK(span_ns(graph, quick) == 40'147'000 - 39'995'000);
}

TEST_CASE("device start: a kernel in the middle of a long launch is no start at its end") {
  TableBuilder t;
  for (int i = 0; i < 5; ++i) {
    const EventId call = t.call(t.thread(1), "cudaLaunchKernel", 20.0 * i, 5);
    t.work(call, t.stream(7), 20.0 * i + 7, 2);
  }
  const EventId first = t.call(t.thread(1), "cudaLaunchKernel", 100, 40'000);
  t.work(first, t.stream(7), 20'000, 30, "lazy");
  const Result<BuiltGraph> built = build_graph(t.table());
  REQUIRE(built.ok());
  CHECK(built->honesty.unexplained_device_ns > 19'000'000);
}

TEST_CASE("device start: holes inside a device graph are work that was not recorded") {
  TableBuilder t;
  const EventId before = t.call(t.thread(1), "cudaLaunchKernel", 0, 5);
  t.work(before, t.stream(7), 7, 50);
  const EventId graph_launch = t.call(t.thread(1), "cudaGraphLaunch", 10, 20);
  // Ten nodes of 20 us, 1 us apart; behind the fifth 400 us in which nothing is recorded.
  double at = 60;
  for (int i = 0; i < 10; ++i) {
    t.work(graph_launch, t.stream(164), at, 20, "node");
    at += 21 + (i == 4 ? 400 : 0);
  }
  const EventId after = t.call(t.thread(1), "cudaLaunchKernel", 40, 5);
  t.work(after, t.stream(7), at, 50, "after");
  const Result<BuiltGraph> built = build_graph(t.table());
  REQUIRE(built.ok());
  const Honesty& honesty = built->honesty;
  CHECK(honesty.unexplained_device_ns == 0);
  CHECK(honesty.unrecorded_device_ns == 400'000);
  CHECK(honesty.unrecorded_device_count == 1);
  CHECK(honesty.flags.empty());
  const TaskGraph& graph = built->graph;
  const TaskId hole = task_called(graph, "unrecorded work of a device graph");
  REQUIRE(hole != none<TaskId>);
  CHECK((*graph.weights().duration_ns)[index(hole)] == 400'000);
  CHECK(graph.lane(hole).number == 164);
  // The node behind the hole follows it, and it follows the node before.
  const Timeline timeline = simulate(graph);
  CHECK(timeline.start_ns(hole) >= timeline.end_ns(task_called(graph, "node", 4)));
  CHECK(timeline.start_ns(task_called(graph, "node", 5)) == timeline.end_ns(hole));
  CHECK(timeline.end_ns(task_called(graph, "after")) ==
        static_cast<std::int64_t>((at + 50) * 1000));
  // A device twice as slow is so in the hole too: 50 + 10 * 20 + 400 + 50 us more.
  CHECK(span_ns(graph, scale_device(graph, 2.0)) - span_ns(graph, graph.weights()) == 700'000);
}

// A launch of many nodes takes long and submits them at its end:
//   host    [cudaGraphLaunch 0-340][synchronize 345-650]      [cudaGraphLaunch 700-1040] ...
//   s7                          [a 339-439][c 460-500]
//   s8                             [b 360-640]
TEST_CASE("device_start: nodes of a graph whose launch takes long begin at its end") {
  TableBuilder t;
  const TrackId host = t.thread(1);
  const TrackId s7 = t.stream(7);
  const TrackId s8 = t.stream(8);
  for (int i = 0; i < 8; ++i) {
    const double at = 700.0 * i;
    const EventId launch = t.call(host, "cudaGraphLaunch", at, 340);
    t.work(launch, s7, at + 339, 100, "a");
    t.work(launch, s8, at + 360, 280, "b");
    t.work(launch, s7, at + 460, 40, "c");
    t.call(host, "cudaDeviceSynchronize", at + 345, 305);
  }
  const Result<BuiltGraph> built = build_graph(t.table());
  REQUIRE(built.ok());
  CHECK(built->honesty.unexplained_device_ns == 0);
  const TaskGraph& graph = built->graph;
  const std::int64_t whole = span_ns(graph, graph.weights());
  CHECK(whole == 7 * 700'000 + 650'000);
  // A launch that takes half as long lets its nodes begin 170 us earlier, each time.
  Weights quick = graph.weights();
  auto durations = std::make_shared<std::vector<std::int64_t>>(*quick.duration_ns);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (graph.kind(make_id<TaskId>(i)) == TaskKind::launch) (*durations)[i] /= 2;
  }
  quick.duration_ns = durations;
  CHECK(span_ns(graph, quick) == whole - 8 * 170'000);
}

}  // namespace foretrace::trace
