#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "tests/trace/formats/read_helpers.h"
#include "trace/assemble/build_graph.h"

namespace foretrace::trace {
namespace {

const char* const fixture = FORETRACE_SOURCE_DIR "/tests/fixtures/rocprofv3_json/tiny.json";

std::string fixture_text() {
  std::ifstream file(fixture, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

Result<LoadedTrace> try_rocprof(const std::string& text, const ReadOptions& options = {}) {
  const auto source = open_memory(text, "t.json");
  return reader_called("rocprofv3_json").read(*source, options);
}

LoadedTrace read_rocprof(const std::string& text) {
  auto loaded = try_rocprof(text);
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  return std::move(loaded).value();
}

std::size_t count_kind(const EventTable& table, EventKind kind) {
  return static_cast<std::size_t>(std::count(table.kind.begin(), table.kind.end(), kind));
}

TEST_CASE("rocprofv3_json: the file is found by its key and read by this reader") {
  const auto loaded = read_trace(fixture, {});
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  CHECK(loaded->events.info.format == "rocprofv3_json");
  CHECK(loaded->events.info.is_hip);
  CHECK(loaded->report.dropped() == 0);
  CHECK(reader_called("rocprofv3_json").sniff("{\"traceEvents\": []}") == Confidence::no);
}

TEST_CASE("rocprofv3_json: every kind of record becomes events of its kind") {
  const LoadedTrace trace = read_rocprof(fixture_text());
  const EventTable& table = trace.events;
  CHECK(count_kind(table, EventKind::kernel) == 1);
  CHECK(count_kind(table, EventKind::copy) == 2);  // one by an engine, one by a kernel
  CHECK(count_kind(table, EventKind::runtime) == 5);
  CHECK(count_kind(table, EventKind::user_annotation) == 1);
  CHECK(table.size() == 9);  // no HSA calls
  CHECK(table.name_of(event_called(table, "forward \"one\"")) == "forward \"one\"");
  CHECK(event_called(table, "hipDeviceSynchronize") != none<EventId>);
}

TEST_CASE("rocprofv3_json: kernels have blocks, streams and their launch") {
  const LoadedTrace trace = read_rocprof(fixture_text());
  const EventTable& table = trace.events;
  const EventId kernel = event_called(table, "gemm(float*)");
  const Descriptor& work = descriptor_of(table, kernel);
  // 1000 threads in blocks of 256 are 4 blocks; 2 in y.
  CHECK(work.grid == std::array<std::int32_t, 3>{4, 2, 1});
  CHECK(work.block == std::array<std::int32_t, 3>{256, 1, 1});
  CHECK(work.registers_per_thread == 24);
  CHECK(work.shared_memory_bytes == 2048);
  CHECK(track_of(table, kernel).number == 3);
  CHECK(track_of(table, kernel).device == 0);
  CHECK(table.correlation[index(kernel)] ==
        table.correlation[index(event_called(table, "hipLaunchKernel"))]);
  // The first event is hipMalloc at 3000.
  CHECK(table.info.first_time_ns == 3000);
  CHECK(table.start_ns[index(kernel)] == 2000);
  CHECK(table.duration_ns[index(kernel)] == 2000);
}

TEST_CASE("rocprofv3_json: copies have bytes and PyTorch's names") {
  const LoadedTrace trace = read_rocprof(fixture_text());
  const EventTable& table = trace.events;
  const EventId copy = event_called(table, "Memcpy HtoD");
  CHECK(descriptor_of(table, copy).bytes == 65536);
  CHECK(track_of(table, copy).device == 0);
  // Without a stream an engine of its own, which no stream has as its number.
  CHECK(track_of(table, copy).number < 0);
}

TEST_CASE("rocprofv3_json: allocations on the GPU are kept, frees know their size") {
  const LoadedTrace trace = read_rocprof(fixture_text());
  const auto& memory = trace.events.memory;
  REQUIRE(memory.size() == 2);
  CHECK(memory[0].bytes == 1048576);
  CHECK(memory[1].bytes == -1048576);
}

TEST_CASE("rocprofv3_json: agents are devices if they are GPUs") {
  const LoadedTrace trace = read_rocprof(fixture_text());
  const auto& devices = trace.events.info.devices;
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].name == "AMD Instinct MI300X");
  CHECK(devices[0].multiprocessors == 304);
  CHECK(devices[0].max_threads_per_multiprocessor == 2048);
  CHECK(devices[0].total_memory_bytes == 206158430208);
}

TEST_CASE("rocprofv3_json: without HIP calls it is said that the host is missing") {
  std::string text = fixture_text();
  const std::size_t calls = text.find("\"hip_api\"");
  text.replace(calls, 9, "\"not_api\"");
  const LoadedTrace trace = read_rocprof(text);
  CHECK(has_warning(trace.report, "no HIP calls are recorded"));
  CHECK_FALSE(has_warning(read_rocprof(fixture_text()).report, "no HIP calls"));
  CHECK(build_graph(trace.events).ok());
}

TEST_CASE("rocprofv3_json: damaged records are counted, the others are read") {
  std::string text = fixture_text();
  const auto replace = [&](const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  };
  replace("\"end_timestamp\": 7000", "\"end_timestamp\": 4000");
  replace("\"start_timestamp\": 7100, ", "");
  replace("\"start_timestamp\": 4500", "\"start_timestamp\": 9223372036854775807");
  const LoadedTrace trace = read_rocprof(text);
  CHECK(damage_count(trace.report, "negative duration") == 1);
  CHECK(damage_count(trace.report, "no time") == 1);
  CHECK(damage_count(trace.report, "time out of range") == 1);
  CHECK(trace.events.size() == 6);
  const auto strict = try_rocprof(text, {.strict = true, .progress = {}});
  REQUIRE_FALSE(strict.ok());
  CHECK(strict.error().message.find("3 of ") != std::string::npos);
}

TEST_CASE("rocprofv3_json: a cut text gives what is whole and says where it ends") {
  const std::string whole = fixture_text();
  for (std::size_t keep = 0; keep < whole.size() - 2; keep += 7) {
    const LoadedTrace trace = read_rocprof(whole.substr(0, keep));
    CHECK(damage_count(trace.report, "text ends early") == 1);
  }
  const LoadedTrace trace = read_rocprof(whole.substr(0, whole.find("\"hsa_api\"")));
  CHECK(trace.events.size() == 7);  // two dispatches and five calls
}

TEST_CASE("rocprofv3_json: damaged bytes never crash") {
  const std::string whole = fixture_text();
  std::uint32_t state = 3;
  const auto random = [&] { return (state = state * 1664525U + 1013904223U) >> 8U; };
  for (int round = 0; round < 3000; ++round) {
    std::string text = whole;
    for (int change = 0; change < 1 + round % 6; ++change) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    const auto loaded = try_rocprof(text);
    REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
    REQUIRE(loaded->report.kept <= loaded->report.events);
  }
  for (const char* text : {"", "[", "{", "{\"rocprofiler-sdk-tool\"", "{\"rocprofiler-sdk-tool\":",
                           "{\"rocprofiler-sdk-tool\": 5}", "{\"rocprofiler-sdk-tool\": [[[[]]]]}",
                           "{\"rocprofiler-sdk-tool\": [{\"agents\": {\"a\": [1, 2}]}",
                           "{\"rocprofiler-sdk-tool\": [{\"strings\": {\"buffer_records\": [3]}}]}",
                           "{\"rocprofiler-sdk-tool\": [{\"buffer_records\": []}]}"}) {
    CAPTURE(text);
    CHECK(try_rocprof(text).ok());
  }
  const std::string deep = "{\"rocprofiler-sdk-tool\": " + std::string(100000, '[');
  CHECK(read_rocprof(deep).report.dropped() > 0);
}

TEST_CASE("rocprofv3_json: the real run of 50 steps is read") {
  const std::string path = FORETRACE_SHARED_DIR "/traces/tracelens/rocprofv3_results.json.gz";
  if (!std::filesystem::exists(path)) {
    MESSAGE("SKIPPED: no " << path);
    return;
  }
  const auto loaded = read_trace(path, {});
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  CHECK(loaded->events.size() == 43915);  // dispatches; nothing else was recorded
  CHECK(loaded->report.dropped() == 0);
  CHECK(loaded->events.info.devices.size() == 8);
  CHECK(has_warning(loaded->report, "no HIP calls are recorded"));
}

}  // namespace
}  // namespace foretrace::trace
