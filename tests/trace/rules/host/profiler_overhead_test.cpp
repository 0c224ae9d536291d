#include <doctest/doctest.h>

#include "tests/trace/rules/table_builder.h"
#include "trace/rules/build_graph.h"

namespace foretrace::trace {
namespace {

/// Launches of 5 us, and one of 4 ms that holds an overhead of this name for all but 6 us.
EventTable with_overhead(const char* name, bool on_track_of_its_own) {
  TableBuilder t;
  for (int i = 0; i < 6; ++i) {
    const EventId call = t.call(t.thread(1), "cudaLaunchKernel", 20.0 * i, 5);
    t.work(call, t.stream(7), 20.0 * i + 7, 2);
  }
  TrackId track = t.thread(1);
  if (on_track_of_its_own) {  // as readers of databases keep overheads: process and thread are
                              // named
    t.table().tracks.push_back(
        {.kind = Track::Kind::other, .process = 1, .number = t.table().tracks[0].number});
    track = make_id<TrackId>(t.table().tracks.size() - 1);
  }
  const EventId call = t.call(t.thread(1), "cudaLaunchKernel", 200, 4000);
  t.event(EventKind::overhead, name, track, 203, 3994);
  t.work(call, t.stream(7), 4202, 2);
  return t.table();
}

Honesty honesty_of(const EventTable& table, const LeftOutRules& without = {}) {
  BuildOptions options;
  options.without_rules = without;
  const Result<BuiltGraph> built = build_graph(table, options);
  REQUIRE(built.ok());
  return built->honesty;
}

}  // namespace

TEST_CASE("profiler overhead: a launch that is long because of the profiler is explained") {
  for (const bool on_track_of_its_own : {false, true}) {
    const EventTable table = with_overhead("CUPTI: Instrumentation", on_track_of_its_own);
    const Honesty with = honesty_of(table);
    CHECK(with.profiler_ns == 3'994'000);
    CHECK(with.unexplained_launch_ns == 0);
    CHECK(with.flags.empty());
    const Honesty without = honesty_of(table, {"profiler_overhead"});
    CHECK(without.profiler_ns == 0);
    CHECK(without.unexplained_launch_ns > 3'900'000);
  }
}

TEST_CASE("profiler overhead: what the driver does without a profiler too is not the profiler's") {
  for (const char* name : {"Runtime Triggered Module Loading", "Lazy Function Loading",
                           "Driver Compiler", "Command Buffer Full"}) {
    CHECK(honesty_of(with_overhead(name, true)).profiler_ns == 0);
  }
}

}  // namespace foretrace::trace
