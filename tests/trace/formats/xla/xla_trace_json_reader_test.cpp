#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "tests/trace/formats/read_helpers.h"
#include "trace/assemble/build_graph.h"

namespace foretrace::trace {
namespace {

LoadedTrace read_xla(const std::string& name) {
  auto loaded = read_trace(FORETRACE_SOURCE_DIR "/tests/fixtures/xla_trace_json/" + name, {});
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  CHECK(loaded->events.info.format == "xla_trace_json");
  return std::move(loaded).value();
}

EventKind kind_of(const EventTable& table, std::string_view name) {
  return table.kind[index(event_called(table, name))];
}

TEST_CASE("xla_trace_json: only XLA's traces are its own") {
  const ReaderInfo& reader = reader_called("xla_trace_json");
  const char* const xla =
      R"({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[{}]})";
  const char* const other = R"({"displayTimeUnit":"ns","traceEvents":[{}]})";
  CHECK(reader.sniff(xla) == Confidence::yes);
  CHECK(reader.sniff(other) == Confidence::no);
  CHECK(kineto_reader().sniff(xla) == Confidence::no);
  CHECK(kineto_reader().sniff(other) != Confidence::no);
}

TEST_CASE("xla_trace_json: the empty object at the end is part of the format") {
  const LoadedTrace trace = read_xla("cpu.json");
  REQUIRE(trace.events.size() == 1);
  CHECK(trace.events.kind[0] == EventKind::cpu_op);
  CHECK(trace.events.info.first_time_ns == 7772162406);
  CHECK(trace.report.dropped() == 0);
}

TEST_CASE("xla_trace_json: names of process and thread stand for the category") {
  const LoadedTrace trace = read_xla("gpu.json");
  const EventTable& table = trace.events;
  CHECK(kind_of(table, "ProfilerStep#4") == EventKind::user_annotation);
  CHECK(kind_of(table, "$train.py:10 step") == EventKind::python_function);
  CHECK(kind_of(table, "ExecuteHelper") == EventKind::cpu_op);
  CHECK(kind_of(table, "cuLaunchKernel") == EventKind::runtime);
  CHECK(kind_of(table, "Memcpy HtoD") == EventKind::copy);
  CHECK(kind_of(table, "fusion_1") == EventKind::kernel);
  CHECK(kind_of(table, "fusion.1") == EventKind::gpu_annotation);
  CHECK(kind_of(table, "while.1") == EventKind::gpu_annotation);  // it contains the next
  CHECK(kind_of(table, "fusion.7") == EventKind::kernel);
}

TEST_CASE("xla_trace_json: streams, launches and details are those of an XPlane") {
  const LoadedTrace trace = read_xla("gpu.json");
  const EventTable& table = trace.events;
  const EventId kernel = event_called(table, "fusion_1");
  CHECK(track_of(table, kernel).kind == Track::Kind::stream);
  CHECK(track_of(table, kernel).number == 17);
  CHECK(track_of(table, kernel).device == 0);
  CHECK(track_of(table, event_called(table, "fusion.7")).device == 1);
  CHECK(table.correlation[index(kernel)] == 55);
  CHECK(table.correlation[index(event_called(table, "cuLaunchKernel"))] == 55);
  const Descriptor& work = descriptor_of(table, kernel);
  CHECK(work.grid == std::array<std::int32_t, 3>{16, 1, 1});
  CHECK(work.block == std::array<std::int32_t, 3>{128, 1, 1});
  CHECK(work.registers_per_thread == 40);
  CHECK(work.shared_memory_bytes == 64);
  CHECK(descriptor_of(table, event_called(table, "Memcpy HtoD")).bytes == 4096);
  const auto built = build_graph(table);
  REQUIRE_MESSAGE(built.ok(), built.error().message);
  CHECK(built->steps.size() == 1);
}

TEST_CASE("xla_trace_json: the real trace of a CPU run is host work") {
  const std::string path = FORETRACE_SHARED_DIR "/traces/jax_xla/xla_cpu_ci.trace.json.gz";
  if (!std::filesystem::exists(path)) {
    MESSAGE("SKIPPED: no " << path);
    return;
  }
  const auto loaded = read_trace(path, {});
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  CHECK(loaded->report.dropped() == 0);
  CHECK(loaded->events.size() == 138);
  for (const EventKind kind : loaded->events.kind) {
    CHECK(kind == EventKind::cpu_op);
  }
  CHECK(build_graph(loaded->events).ok());
}

}  // namespace
}  // namespace foretrace::trace
