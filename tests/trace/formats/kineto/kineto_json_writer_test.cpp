// Kineto-style JSON out of a table: reading it back gives the same table.
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/trace/formats/read_helpers.h"
#include "tests/trace/formats/write_helpers.h"
#include "tests/trace/same_table.h"

namespace foretrace::trace {
namespace {

TEST_CASE("kineto_json: what is written reads back as the same table, for every fixture") {
  for (const auto& entry :
       std::filesystem::directory_iterator(FORETRACE_SOURCE_DIR "/tests/fixtures/kineto_json")) {
    CAPTURE(entry.path().filename());
    const auto loaded = read_trace(entry.path().string(), {});
    if (!loaded.ok()) {
      continue;  // fixtures of damage
    }
    const std::string text = written_as("kineto_json", *loaded);
    const LoadedTrace again = read_bytes("kineto_json", text);
    CHECK(difference(loaded->events, again.events) == "");
    CHECK(again.report.damage.empty());
    CHECK(again.report.warnings.empty());
    CHECK(nlohmann::json::accept(text));
    CHECK(written_as("kineto_json", again) == text);
  }
}

TEST_CASE("kineto_json: real traces of all generations read back as the same table") {
  for (const std::string& path : some_real_traces()) {
    if (!std::filesystem::exists(path)) {
      MESSAGE("SKIPPED: no " << path);
      continue;
    }
    CAPTURE(path);
    const auto loaded = read_trace(path, {});
    REQUIRE(loaded.ok());
    const LoadedTrace again = read_bytes("kineto_json", written_as("kineto_json", *loaded));
    CHECK(difference(loaded->events, again.events) == "");
    CHECK(again.report.damage.empty());
  }
}

TEST_CASE("kineto_json: names with quotes, escapes and other scripts survive") {
  const LoadedTrace loaded = read_events(
      R"({"ph": "X", "cat": "cpu_op", "name": "a \"b\" \\ \u0001 \u00e9", "pid": "worker \"1\"",
          "tid": "t\\2", "ts": -3.5, "dur": 0.001, "args": {"Input Dims": [[1, 2], []]}})");
  const std::string text = written_as("kineto_json", loaded);
  CHECK(text.find(R"("ts": -3.500, "dur": 0.001)") != std::string::npos);
  CHECK(difference(loaded.events, read_bytes("kineto_json", text).events) == "");
}

TEST_CASE("kineto_json: a launch has one arrow that starts and one end per kernel") {
  const LoadedTrace loaded = read_events(
      R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 2, "ts": 1,
          "dur": 1, "args": {"correlation": 7}},
         {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 3, "dur": 1,
          "args": {"device": 0, "stream": 7, "correlation": 7}},
         {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 4, "dur": 1,
          "args": {"device": 0, "stream": 7, "correlation": 7}},
         {"ph": "X", "cat": "kernel", "name": "c", "pid": 0, "tid": 7, "ts": 5, "dur": 1,
          "args": {"device": 0, "stream": 7, "correlation": 9}})");
  const auto document = nlohmann::json::parse(written_as("kineto_json", loaded));
  int starts = 0;
  int ends = 0;
  for (const auto& event : document["traceEvents"]) {
    starts += event["ph"] == "s" ? 1 : 0;
    ends += event["ph"] == "f" ? 1 : 0;
  }
  CHECK(starts == 1);  // kernel c was launched before the window: no arrow
  CHECK(ends == 2);
}

TEST_CASE("kineto_json: arguments that are no JSON are left out and counted") {
  LoadedTrace loaded = read_events(
      R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 2, "ts": 1, "dur": 1,
          "args": {"Input Dims": [1]}})");
  loaded.events.descriptors[1].dims = loaded.events.names.intern("[1");
  std::string text;
  const auto report = writer_called("kineto_json").write(loaded, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  REQUIRE(report.ok());
  REQUIRE(report->left_out.size() == 1);
  CHECK(report->left_out.front() == "1 arguments that are no JSON");
  CHECK(nlohmann::json::accept(text));
}

TEST_CASE("writers of events: a trace that is something else is refused, not written empty") {
  LoadedTrace graph;
  graph.content.emplace<NodeGraph>();
  for (const std::string_view format : {"kineto_json", "ftr"}) {
    const auto report = writer_called(format).write(graph, [](std::string_view) { return true; });
    REQUIRE_FALSE(report.ok());
    CHECK(report.error().message ==
          "the trace is a graph of nodes without events, which this format cannot store; chakra_et "
          "has");
  }
  LoadedTrace both = read_events(
      R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 2, "ts": 1, "dur": 1})");
  both.content.emplace<MemoryTimeline>();
  const auto report = writer_called("ftr").write(both, [](std::string_view) { return true; });
  REQUIRE(report.ok());
  CHECK(report->left_out == std::vector<std::string>{"device memory over time"});
}

TEST_CASE("kineto_json: a sink that refuses ends the writing with an error") {
  const LoadedTrace loaded = read_events(
      R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 2, "ts": 1, "dur": 1})");
  const auto report =
      writer_called("kineto_json").write(loaded, [](std::string_view) { return false; });
  REQUIRE_FALSE(report.ok());
  CHECK(report.error().code == ErrorCode::io);
}

TEST_CASE("writers: the format follows from the name, or from what is asked for") {
  CHECK((*choose_writer("a/b.json.gz", ""))->name == "kineto_json");
  CHECK((*choose_writer("a/b.dat", "kineto_json"))->name == "kineto_json");
  const auto unknown = choose_writer("a/b.dat", "");
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().message.find("kineto_json (.json .json.gz)") != std::string::npos);
  CHECK_FALSE(choose_writer(".json", "").ok());
  const auto wrong = choose_writer("b.json", "kineto_jsn");
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message.find("did you mean 'kineto_json'?") != std::string::npos);
}

TEST_CASE("writers: a name that ends in .gz is written compressed") {
  const LoadedTrace loaded = read_events(
      R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 2, "ts": 1, "dur": 1})");
  const std::string bytes = written_as("kineto_json", loaded, "x.json.gz");
  CHECK(bytes.substr(0, 2) == "\x1f\x8b");
  const LoadedTrace again = read_bytes("kineto_json", bytes);
  CHECK(difference(loaded.events, again.events) == "");
  CHECK(again.report.warnings.empty());
}

}  // namespace
}  // namespace foretrace::trace
