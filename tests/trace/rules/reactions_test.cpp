// For every dependency rule: a small trace in which leaving out only that rule leaves the replay
// (nearly) exact but moves a reaction by more than 10 %. A replay error alone proves nothing.
#include <functional>

#include <doctest/doctest.h>

#include "tests/trace/rules/spans.h"
#include "tests/trace/rules/table_builder.h"
#include "trace/rules/assembly/assembly.h"

namespace foretrace::trace {
namespace {

double recorded_span_us(const EventTable& table) {
  std::int64_t first = table.start_ns.front();
  std::int64_t last = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    first = std::min(first, table.start_ns[i]);
    last = std::max(last, table.end_ns(make_id<EventId>(i)));
  }
  return static_cast<double>(last - first) / 1000.0;
}

/// Launches back to back (5 us each, 5 us of host time between), kernels of 100 us on stream 7.
void launch_many(TableBuilder& t, int count, double from_us, double kernel_us) {
  double ready = 0;
  for (int i = 0; i < count; ++i) {
    const double start = from_us + 10.0 * i;
    const EventId call = t.call(t.thread(1), "cudaLaunchKernel", start, 5);
    ready = std::max(ready + 1, start + 7);
    t.work(call, t.stream(7), ready, kernel_us);
    ready += kernel_us;
  }
}

}  // namespace

TEST_CASE(
    "synchronization: a sync call waits for the device instead of lasting as long as it did") {
  TableBuilder t;
  launch_many(t, 10, 0, 100);                              // device: 7 .. 7 + 10 * 100 + 9 = 1016
  t.call(t.thread(1), "cudaStreamSynchronize", 100, 921);  // returns 5 us after
  launch_many(t, 10, 1030, 5);
  CHECK(spans(t.table()).replay == doctest::Approx(recorded_span_us(t.table())).epsilon(0.001));
  check_reacts(t.table(), "synchronization", &Spans::device_x0);
}

TEST_CASE("blocking copies: a pageable copy to the host returns with the data") {
  TableBuilder t;
  launch_many(t, 10, 0, 100);  // device until 1016
  const EventId call = t.call(t.thread(1), "cudaMemcpyAsync", 100, 934);
  const EventId copy =
      t.work(call, t.stream(7), 1017, 10, "Memcpy DtoH (Device -> Pageable)", EventKind::copy);
  t.bytes(copy, 4096);
  launch_many(t, 10, 1040, 5);
  CHECK(spans(t.table()).replay == doctest::Approx(recorded_span_us(t.table())).epsilon(0.001));
  check_reacts(t.table(), "blocking_copies", &Spans::device_x0);
}

TEST_CASE("queue depth: the launch of entry k returns when entry k-1021 starts") {
  // 1,200 launches of 5 us; kernels of 100 us. From entry 1,022 on the call is blocked until entry
  // k - 1021 starts: 7 us + (k - 1021) * 101 us, plus its own 5 us.
  TableBuilder t;
  double host = 0;
  for (int k = 0; k < 1200; ++k) {
    const double kernel_start = 7.0 + 101.0 * k;
    const double entry = k > 1021 ? 7.0 + 101.0 * (k - 1021) : 0.0;
    const double end = std::max(host, entry) + 5.0;
    const EventId call = t.call(t.thread(1), "cudaLaunchKernel", host, end - host);
    t.work(call, t.stream(7), kernel_start, 100);
    host = end + 5.0;
  }
  t.op(t.thread(1), "aten::done", host, 3000);
  CHECK(spans(t.table()).replay == doctest::Approx(recorded_span_us(t.table())).epsilon(0.001));
  check_reacts(t.table(), "queue_depth", &Spans::device_x0);
}

TEST_CASE("hidden sync: a silence right before an event is read is a wait for the device") {
  TableBuilder t;
  launch_many(t, 10, 0, 100);  // device until 1016, host until 95
  t.call(t.thread(1), "cudaEventElapsedTime", 1021, 1);
  t.op(t.thread(1), "aten::done", 1022, 200);
  CHECK(spans(t.table()).replay == doctest::Approx(recorded_span_us(t.table())).epsilon(0.001));
  // The silence also ends with the kernel launched before it.
  const Spans with = spans(t.table(), {"polling"});
  const Spans without = spans(t.table(), {"polling", "hidden_sync"});
  CHECK(change(with.device_x0, without.device_x0) > 0.10);
}

TEST_CASE("overhead events: 'Command Buffer Full' is waiting even where few entries are visible") {
  TableBuilder t;
  launch_many(t, 50, 0, 100);
  const EventId call = t.call(t.thread(1), "cudaLaunchKernel", 600, 4000);
  t.event(EventKind::overhead, "Command Buffer Full", t.thread(9), 602, 3994);
  t.work(call, t.stream(7), 5100, 100);
  t.op(t.thread(1), "aten::done", 4600, 1000);
  check_reacts(t.table(), "overhead_events", &Spans::device_x0);
}

TEST_CASE("polling: a silence that ends with the kernel launched before it is a wait for it") {
  // Three times: a kernel that tells how many tokens come, on a stream beside the one in use, and a
  // host that reads a flag until it knows. Nothing is recorded of the reading.
  TableBuilder t;
  double host = 0;
  for (int i = 0; i < 3; ++i) {
    const EventId before = t.call(t.thread(1), "cudaLaunchKernel", host, 5);
    t.work(before, t.stream(7), host + 7, 20);
    const EventId notify = t.call(t.thread(1), "cudaLaunchKernel", host + 10, 5);
    const double length = 300 + 150 * i;
    t.work(notify, t.stream(20), host + 17, length, "notify_dispatch");
    host += 17 + length + 8;  // it goes on 8 us after the kernel's end
    t.op(t.thread(1), "deep_ep::dispatch", host, 20);
    host += 25;
  }
  CHECK(spans(t.table()).replay == doctest::Approx(recorded_span_us(t.table())).epsilon(0.001));
  check_reacts(t.table(), "polling", &Spans::device_x0);
}

TEST_CASE("polling: silences that end with a kernel now and then are chance") {
  // The host is silent for 400 us after every launch; one kernel of five ends then too.
  TableBuilder t;
  double host = 0;
  for (int i = 0; i < 5; ++i) {
    const EventId call = t.call(t.thread(1), "cudaLaunchKernel", host, 5);
    t.work(call, t.stream(7), host + 7, i == 3 ? 395 : 150 + 40 * i);
    host += 405;
    t.op(t.thread(1), "aten::add", host, 10);
    host += 10;
  }
  CHECK(spans(t.table()).device_x2 == doctest::Approx(spans(t.table(), {"polling"}).device_x2));
  CHECK(spans(t.table()).device_x0 == doctest::Approx(spans(t.table(), {"polling"}).device_x0));
}

TEST_CASE("hand-over: the backward thread starts when the forward thread hands over to it") {
  TableBuilder t;
  launch_many(t, 10, 0, 100);                              // forward, device until 1016
  t.call(t.thread(1), "cudaStreamSynchronize", 100, 921);  // forward thread waits until 1021
  t.op(t.thread(1), "aten::ones_like", 1025, 5);           // and hands over at 1030
  for (int i = 0; i < 10; ++i) {
    const EventId call = t.call(t.thread(2), "cudaLaunchKernel", 1100 + 10 * i, 5);
    t.work(call, t.stream(7), 1107 + 10 * i, 2);
  }
  t.op(t.thread(1), "aten::zero_", 1400, 50);  // the main thread resumes after thread 2
  CHECK(spans(t.table()).replay == doctest::Approx(recorded_span_us(t.table())).epsilon(0.001));
  check_reacts(t.table(), "hand_over", &Spans::device_x0);
}

TEST_CASE("event wait: work on another stream starts after the recorded event") {
  TableBuilder t;
  const EventId first = t.call(t.thread(1), "cudaLaunchKernel", 0, 5);
  t.work(first, t.stream(7), 7, 1000);
  t.call(t.thread(1), "cudaEventRecord", 10, 1);
  t.call(t.thread(1), "cudaStreamWaitEvent", 12, 1);
  const EventId second = t.call(t.thread(1), "cudaLaunchKernel", 15, 5);
  t.work(second, t.stream(20), 1008, 400);
  // The inference would find the same edge from its timing alone.
  LeftOutRules off{"inference", "capacity"};
  const Spans with = spans(t.table(), off);
  off.insert("event_wait");
  const Spans without = spans(t.table(), off);
  CHECK(with.replay == doctest::Approx(1408).epsilon(0.001));
  CHECK(change(with.device_x0, without.device_x0) > 0.10);
}

TEST_CASE("event wait: the stream that a record names waits, not the thread's next operation") {
  // cuDNN: two waits for one event, then work of the recording stream first (PyTorch 2.11, whose
  // records of waits do not name what is waited for).
  TableBuilder t;
  const EventId first = t.call(t.thread(1), "cudaLaunchKernel", 0, 5);
  t.work(first, t.stream(7), 7, 1000);
  t.call(t.thread(1), "cudaEventRecord", 10, 1);
  for (const std::int32_t stream : {20, 21}) {
    const EventId wait = t.call(t.thread(1), "cudaStreamWaitEvent", 12 + 2 * (stream - 20), 1);
    t.sync_record({.kind = SyncKind::stream_wait,
                   .device = 0,
                   .stream = stream,
                   .wait_on_stream = -1,
                   .correlation = t.correlation(wait)});
  }
  const EventId own = t.call(t.thread(1), "cudaLaunchKernel", 17, 5);
  t.work(own, t.stream(7), 1008, 50);
  const EventId second = t.call(t.thread(1), "cudaLaunchKernel", 25, 5);
  t.work(second, t.stream(20), 1009, 400);
  const EventId third = t.call(t.thread(1), "cudaLaunchKernel", 35, 5);
  t.work(third, t.stream(21), 1009, 700);
  const LeftOutRules off{"inference", "capacity"};
  const Spans with = spans(t.table(), off);
  CHECK(with.replay == doctest::Approx(1709).epsilon(0.001));
  // Nothing of the 1,000 us stays when kernels vanish.
  CHECK(with.device_x0 < 60);
  CHECK(with.device_x2 == doctest::Approx(2009 + 1400).epsilon(0.01));
}

TEST_CASE("event wait: waits behind which nothing comes, among very many streams") {
  for (const bool is_named : {false, true}) {
    CAPTURE(is_named);
    TableBuilder t;
    constexpr int streams = 70;
    for (int i = 0; i < 2 * streams; ++i) {
      const double at = 20.0 * i;
      const EventId launch = t.call(t.thread(1), "cudaLaunchKernel", at, 2);
      t.work(launch, t.stream(100 + i % streams), at + 4, 3);
      if (i != streams && i != 2 * streams - 1) continue;
      t.call(t.thread(1), "cudaEventRecord", at + 8, 1);
      const EventId wait = t.call(t.thread(1), "cudaStreamWaitEvent", at + 12, 1);
      if (is_named) {
        t.sync_record({.kind = SyncKind::stream_wait,
                       .device = 0,
                       .stream = 100 + i % streams,
                       .wait_on_stream = -1,
                       .correlation = t.correlation(wait)});
      }
    }
    CHECK(spans(t.table()).replay == doctest::Approx(recorded_span_us(t.table())).epsilon(0.01));
  }
}

TEST_CASE("cuda_sync: the record says which of two events is waited for") {
  TableBuilder t;
  const EventId a = t.call(t.thread(1), "cudaLaunchKernel", 0, 5);
  t.work(a, t.stream(7), 7, 1000);
  const EventId b = t.call(t.thread(1), "cudaLaunchKernel", 6, 4);
  t.work(b, t.stream(8), 12, 100);
  const EventId record = t.call(t.thread(1), "cudaEventRecord", 10, 1);
  const EventId wait = t.call(t.thread(1), "cudaStreamWaitEvent", 12, 1);
  t.sync_record({.kind = SyncKind::stream_wait,
                 .device = 0,
                 .stream = 20,
                 .wait_on_stream = 8,
                 .record_correlation = t.correlation(record),
                 .correlation = t.correlation(wait)});
  const EventId c = t.call(t.thread(1), "cudaLaunchKernel", 1500, 5);
  t.work(c, t.stream(20), 1507, 1000);
  // Kernels doubled: stream 7 ends at 2007, stream 8 at 212; the waiter is launched at 1505.
  const Spans exact = spans(t.table());
  // Without it every other stream is a source.
  const Spans guessed = spans(t.table(), {"cuda_sync"});
  CHECK(exact.device_x2 == doctest::Approx(1507 + 2000).epsilon(0.001));
  CHECK(change(exact.device_x2, guessed.device_x2) > 0.10);
}

TEST_CASE("default stream: a stream that was seen waiting for the legacy default stream does") {
  TableBuilder t;
  double at = 0;
  for (int i = 0; i < 4; ++i) {
    const EventId a = t.call(t.thread(1), "cudaLaunchKernel", at, 5);
    t.work(a, t.stream(7), at + 7, 300);
    const EventId b = t.call(t.thread(1), "cudaLaunchKernel", at + 10, 5);
    t.work(b, t.stream(13), at + 308, 300);
    at += 700;
  }
  LeftOutRules off{"inference", "capacity"};
  const Spans with = spans(t.table(), off);
  off.insert("default_stream");
  const Spans without = spans(t.table(), off);
  CHECK(with.replay == doctest::Approx(recorded_span_us(t.table())).epsilon(0.001));
  CHECK(change(with.device_x0, without.device_x0) > 0.10);
}

TEST_CASE("graph launch: the next work on the launching stream follows the graph's own streams") {
  TableBuilder t;
  const EventId first = t.call(t.thread(1), "cudaLaunchKernel", 0, 5);
  t.work(first, t.stream(7), 7, 50);
  const EventId graph = t.call(t.thread(1), "cudaGraphLaunch", 10, 20);
  double at = 58;
  for (int i = 0; i < 5; ++i) {
    t.work(graph, t.stream(164), at, 199);
    at += 200;
  }
  const EventId after = t.call(t.thread(1), "cudaLaunchKernel", 40, 5);
  t.work(after, t.stream(7), at, 400);
  LeftOutRules off{"inference", "capacity"};
  const Spans with = spans(t.table(), off);
  off.insert("graph_launch");
  const Spans without = spans(t.table(), off);
  CHECK(with.replay == doctest::Approx(recorded_span_us(t.table())).epsilon(0.001));
  CHECK(change(with.device_x0, without.device_x0) > 0.10);
}

TEST_CASE("inference: an unrecorded wait is found from the end of another stream's work") {
  TableBuilder t;
  const EventId a = t.call(t.thread(1), "cudaLaunchKernel", 0, 5);
  t.work(a, t.stream(7), 7, 1000);
  const EventId b = t.call(t.thread(1), "cudaLaunchKernel", 15, 5);
  t.work(b, t.stream(20), 1010, 400);
  CHECK(spans(t.table()).replay == doctest::Approx(1410).epsilon(0.001));
  check_reacts(t.table(), "inference", &Spans::device_x0);
}

TEST_CASE("capacity: a kernel that fills the device holds others back until its last wave") {
  TableBuilder t;
  const EventId a = t.call(t.thread(1), "cudaLaunchKernel", 0, 5);
  t.work(a, t.stream(7), 7, 1000);
  const EventId b = t.call(t.thread(1), "cudaLaunchKernel", 15, 5);
  t.work(b, t.stream(20), 907, 400);  // 90 % into the other kernel
  CHECK(spans(t.table()).replay == doctest::Approx(1307).epsilon(0.001));
  check_reacts(t.table(), "capacity", &Spans::device_x0);
}

TEST_CASE("capacity: a kernel that was launched later and began first holds others back too") {
  // A collective waits for an event on stream 7. When that comes, the next kernel of stream 7
  // begins first and fills the device: the collective follows at 90 % of it.
  TableBuilder t;
  const EventId a = t.call(t.thread(1), "cudaLaunchKernel", 0, 5);
  t.work(a, t.stream(7), 7, 500);  // until 507
  t.call(t.thread(1), "cudaEventRecord", 10, 1);
  t.call(t.thread(1), "cudaStreamWaitEvent", 12, 1);
  const EventId c = t.call(t.thread(1), "cudaLaunchKernelExC", 15, 5);
  const EventId k = t.call(t.thread(1), "cudaLaunchKernel", 25, 5);
  t.work(k, t.stream(7), 508, 1000);
  t.work(c, t.stream(20), 1408, 300, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  const EventTable& table = t.table();
  const Result<BuiltGraph> built = build_graph(table);
  REQUIRE(built.ok());
  CHECK(built->honesty.unexplained_device_ns == 0);
  CHECK(built->honesty.edges_by_origin[static_cast<std::size_t>(rules::EdgeOrigin::capacity)] == 1);
  CHECK(spans(table).replay == doctest::Approx(1708).epsilon(0.001));
  // Event, then capacity: 7 + 1000 + 1 + 0.9 * 2000 + 600.
  CHECK(spans(table).device_x2 == doctest::Approx(7 + 1000 + 1 + 1800 + 600).epsilon(0.002));
  check_reacts(table, "capacity", &Spans::device_x0);
}

TEST_CASE("capacity: an operation that somebody waits for before keeps its place") {
  // As above, but a third stream waits for the collective's before the later kernel is launched:
  // behind that kernel, the wait would no longer find it.
  TableBuilder t;
  const EventId a = t.call(t.thread(1), "cudaLaunchKernel", 0, 5);
  t.work(a, t.stream(7), 7, 500);
  t.call(t.thread(1), "cudaEventRecord", 10, 1);
  t.call(t.thread(1), "cudaStreamWaitEvent", 12, 1);
  const EventId c = t.call(t.thread(1), "cudaLaunchKernelExC", 15, 5);
  t.work(c, t.stream(20), 1408, 300, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  t.call(t.thread(1), "cudaEventRecord", 20, 1);
  t.call(t.thread(1), "cudaStreamWaitEvent", 21, 1);
  const EventId after = t.call(t.thread(1), "cudaLaunchKernel", 22, 2);
  t.work(after, t.stream(30), 1709, 100);
  const EventId k = t.call(t.thread(1), "cudaLaunchKernel", 25, 5);
  t.work(k, t.stream(7), 508, 1000);
  const Result<BuiltGraph> built = build_graph(t.table());
  REQUIRE(built.ok());
  CHECK(built->honesty.unexplained_device_ns > 800'000);
  CHECK(spans(t.table()).replay == doctest::Approx(1809).epsilon(0.001));
}

TEST_CASE("host gaps: time between calls is host work and stays when kernels vanish") {
  TableBuilder t;
  for (int i = 0; i < 10; ++i) {
    const EventId call = t.call(t.thread(1), "cudaLaunchKernel", 100 * i, 5);
    t.work(call, t.stream(7), 100 * i + 7, 50);
  }
  check_reacts(t.table(), "host_gaps", &Spans::device_x0);
}

TEST_CASE("pre-window: work launched before the window delays what follows on its stream") {
  TableBuilder t;
  double at = 0;
  for (int i = 0; i < 10; ++i) {
    t.orphan(t.stream(7), at, 99);
    at += 100;
  }
  const EventId call = t.call(t.thread(1), "cudaLaunchKernel", 5, 5);
  t.work(call, t.stream(7), at, 500);
  CHECK(spans(t.table()).replay == doctest::Approx(1500).epsilon(0.001));
  check_reacts(t.table(), "pre_window", &Spans::device_x2);
}

}  // namespace foretrace::trace
