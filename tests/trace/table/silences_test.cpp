#include "trace/table/silences.h"

#include <doctest/doctest.h>

#include "tests/trace/rules/table_builder.h"

namespace foretrace::trace {
namespace {

constexpr double ms = 1000;  // the builder counts in us

/// Steps of 10 ms, each with 5 ms of device work; before the third the host compiles for 400 ms.
TableBuilder with_compilation() {
  TableBuilder t;
  const TrackId host = t.thread(1);
  double now = 0;
  for (int i = 0; i < 6; ++i) {
    if (i == 3) {
      t.op(host, "training", now - 30 * ms, 500 * ms);
      t.op(host, "compile", now, 400 * ms);
      now += 400 * ms;
    }
    t.work(t.call(host, "cudaLaunchKernel", now, 5), t.stream(7), now + 10, 5 * ms);
    now += 10 * ms;
  }
  return t;
}

TEST_CASE("silences: compilation is found and named by the shortest event around it") {
  TableBuilder t = with_compilation();
  const auto silences = one_off_silences(t.table());
  REQUIRE(silences.size() == 1);
  CHECK(silences[0].name == "compile");
  // From the end of the third kernel (at 25.01 ms) to the fourth launch (at 430 ms).
  CHECK(silences[0].begin_ns == 25'010'000);
  CHECK(silences[0].end_ns == 430'000'000);
}

TEST_CASE("silences: a long call of the runtime before the first launch creates the context") {
  const auto with_first_call = [](const char* name) {
    TableBuilder t;
    const TrackId host = t.thread(1);
    t.call(host, name, 0, 2114 * ms);
    for (int i = 0; i < 6; ++i) {
      const double now = 2115 * ms + 100 * i;
      t.work(t.call(host, "cudaLaunchKernel", now, 5), t.stream(7), now + 10, 50);
    }
    return t;
  };
  TableBuilder t = with_first_call("cudaMalloc");
  const auto silences = one_off_silences(t.table());
  REQUIRE(silences.size() == 1);
  CHECK(silences[0].name == "cudaMalloc");
  CHECK(silences[0].end_ns - silences[0].begin_ns == 2'114'000'000);
  // One that waits does so for work of before.
  CHECK(one_off_silences(with_first_call("cudaDeviceSynchronize").table()).empty());
}

TEST_CASE("silences: what comes again for every step is no one-off") {
  TableBuilder t;
  for (int i = 0; i < 6; ++i) {
    const double now = i * 100 * ms;
    t.work(t.call(t.thread(1), "cudaLaunchKernel", now, 5), t.stream(7), now + 10, 5 * ms);
  }
  CHECK(one_off_silences(t.table()).empty());
}

TEST_CASE("silences: cut out, what comes later moves forward and what is around gets shorter") {
  TableBuilder t = with_compilation();
  EventTable& table = t.table();
  const auto silences = one_off_silences(table);
  REQUIRE(silences.size() == 1);
  const std::int64_t gone = silences[0].end_ns - silences[0].begin_ns;
  const EventTable before = table;
  cut_out(silences, table);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto id = make_id<EventId>(i);
    CAPTURE(table.name_of(id));
    const bool later = before.start_ns[i] >= silences[0].end_ns;
    const bool around =
        before.start_ns[i] < silences[0].begin_ns && before.end_ns(id) > silences[0].end_ns;
    const bool inside = table.name_of(id) == "compile";
    CHECK(table.start_ns[i] == (later    ? before.start_ns[i] - gone
                                : inside ? silences[0].begin_ns
                                         : before.start_ns[i]));
    CHECK(table.duration_ns[i] == (inside   ? 0
                                   : around ? before.duration_ns[i] - gone
                                            : before.duration_ns[i]));
  }
  CHECK(one_off_silences(table).empty());
}

}  // namespace
}  // namespace foretrace::trace
