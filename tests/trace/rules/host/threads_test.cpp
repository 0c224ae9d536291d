#include <algorithm>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "sim/engine/reactions.h"
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

// JAX: the launch returns at once, the frame that waits for the arrays ends 5 us after the kernel.
//   host    [launch 100-110]    [block_until_ready 120 ...................... 1125][... 1200]
//                                 [that of one array 125 ...... 1120]
//   stream        [kernel 115 ............................................ 1120]
TEST_CASE("threads: a Python frame that waits for JAX's arrays waits for the device") {
  TableBuilder t;
  const TrackId host = t.thread(1);
  const TrackId stream = t.stream(7);
  const TrackId other = t.stream(8);
  t.event(EventKind::user_annotation, "ProfilerStep#0", host, 0, 1200);
  const EventId call = t.call(host, "cuLaunchKernel", 100, 10);
  t.work(call, stream, 115, 1005);
  const EventId copy = t.call(host, "cuMemcpyAsync", 111, 2);
  t.work(copy, other, 116, 4);
  t.event(EventKind::python_function, "$array.py:1 block_until_ready", host, 125, 995);
  t.event(EventKind::python_function, "$api.py:2757 block_until_ready", host, 120, 1005);
  t.event(EventKind::python_function, "$api.py:2 block_until_read", host, 1126, 40);
  const Result<BuiltGraph> built = build_graph(t.table());
  REQUIRE(built.ok());
  const TaskGraph& graph = built->graph;
  std::size_t waits = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    waits += graph.kind(make_id<TaskId>(i)) == TaskKind::synchronization ? 1 : 0;
  }
  CHECK(waits == 2);  // the begin and the finish of one
  CHECK(simulate(graph).span_ns == 1'200'000);
  // Without the device's 1005 + 4 us the host has what it did beside waiting: 120 us before, the
  // call's own 3 us and what completion takes, 75 us after.
  const std::vector<std::int64_t> spans =
      simulate_batch_spans(graph.topology(), std::vector<Weights>{scale_device(graph, 0.0)});
  CHECK(spans[0] < 250'000);
}

// A program's own function of this name launches work and waits for a part of it itself:
//   host    [block_until_ready 100: [launch 110-120][launch 125-130] ... [StreamSynchronize
//   140-305] 310] stream                             [kernel 130 ............... 300] other [kernel
//   135 .......................................... 900]
TEST_CASE("threads: a frame with calls of the runtime inside waits for what these wait for") {
  TableBuilder t;
  const TrackId host = t.thread(1);
  const TrackId stream = t.stream(7);
  const TrackId other = t.stream(8);
  t.event(EventKind::user_annotation, "ProfilerStep#0", host, 0, 1000);
  t.event(EventKind::python_function, "train.py(12): block_until_ready", host, 100, 210);
  const EventId first = t.call(host, "cudaLaunchKernel", 110, 10);
  t.work(first, stream, 130, 170);
  const EventId second = t.call(host, "cudaLaunchKernel", 125, 5);
  t.work(second, other, 135, 765);
  t.call(host, "cudaStreamSynchronize", 140, 165);
  const Result<BuiltGraph> built = build_graph(t.table());
  REQUIRE(built.ok());
  for (std::size_t i = 0; i < built->graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (built->graph.kind(task) == TaskKind::synchronization) {
      CHECK(built->graph.name(task).find("block_until_ready") == std::string_view::npos);
    }
  }
  CHECK(simulate(built->graph).span_ns == 1'000'000);
}

}  // namespace foretrace::trace
