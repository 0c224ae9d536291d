// Chrome traces of others; fixtures are a few events written by hand after real ones.
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "tests/trace/formats/node_helpers.h"
#include "trace/assemble/build_graph.h"

namespace foretrace::trace {
namespace {

std::string_view track_name(const EventTable& table, std::size_t row) {
  return table.names[table.tracks[index(table.track[row])].name];
}

TEST_CASE("chrome_trace: begins and ends pair by track, whatever is open stays counted") {
  const LoadedTrace trace = read_file_of("chrome_trace", "byteps.json");
  const EventTable& table = trace.events;
  REQUIRE(table.size() == 3);  // INITCOMMUNICATION, QUEUE inside PUSH_PULL
  CHECK(table.name_of(EventId{0}) == "INITCOMMUNICATION");
  CHECK(table.duration_ns[0] == 5'041'000);
  CHECK(track_name(table, 0) == "conv1_weight");  // one process per tensor
  CHECK(table.name_of(EventId{1}) == "QUEUE");
  CHECK(table.duration_ns[1] == 10'000);
  CHECK(track_name(table, 2) == "conv1_bias");
  CHECK(trace.report.dropped() == 1);          // PUSH_PULL of conv1_weight never ends
  CHECK_FALSE(trace.report.warnings.empty());  // and neither does the list
  const auto built = build_graph(trace);
  CHECK_FALSE(built.ok());
}

TEST_CASE("chrome_trace: TensorFlow's numbered streams are device work, the copies of it are not") {
  const LoadedTrace trace = read_file_of("chrome_trace", "tensorflow.json");
  const EventTable& table = trace.events;
  REQUIRE(table.size() == 5);
  CHECK(table.kind[0] == EventKind::other);  // the host's view
  CHECK(table.kind[1] == EventKind::other);  // "device:GPU:0 Compute": dispatch
  CHECK(table.kind[2] == EventKind::other);  // "stream:all": the same once more
  CHECK(table.kind[3] == EventKind::kernel);
  CHECK(table.kind[4] == EventKind::copy);
  const Track& track = table.tracks[index(table.track[3])];
  CHECK(track.kind == Track::Kind::stream);
  CHECK(track.device == 0);
  CHECK(track.number == 22);
  CHECK(build_graph(trace).ok());
}

TEST_CASE("chrome_trace: a trace of PyTorch's profiler is left to its own reader") {
  const auto& chrome = reader_called("chrome_trace");
  const auto& kineto = reader_called("kineto_json");
  const std::string_view profiler =
      R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 1}]})";
  CHECK(chrome.sniff(profiler) == Confidence::no);
  CHECK(kineto.sniff(profiler) == Confidence::yes);
  const std::string_view other = R"([{"ph": "B", "name": "a", "ts": 1}])";
  CHECK(chrome.sniff(other) == Confidence::maybe);
  CHECK(chrome.sniff(R"({"nodes": []})") == Confidence::no);
  CHECK(chrome.sniff(R"([{"a": "X"}])") == Confidence::no);
}

TEST_CASE("chrome_trace: a real timeline of a parameter server is read to where it breaks off") {
  const std::string path = FORETRACE_SHARED_DIR "/traces/other/bytescheduler_no_priority.json.gz";
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped: no real trace " << path);
    return;
  }
  const auto trace = read_trace(path, {});
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  CHECK(trace->events.info.format == "chrome_trace");
  CHECK(trace->report.events == 40588);
  CHECK(trace->events.size() == 20129);  // as many ends as begins
  CHECK(trace->report.dropped() == 0);
  CHECK(trace->report.warnings.size() == 1);
}

}  // namespace
}  // namespace foretrace::trace
