// Allocator snapshots; fixtures are written by tests/fixtures/memory_snapshot/make_fixtures.py.
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "tests/trace/formats/node_helpers.h"

namespace foretrace::trace {
namespace {

using namespace std::string_literals;

void check_snapshot(const LoadedTrace& trace) {
  REQUIRE(trace.memory() != nullptr);
  const MemoryTimeline& memory = *trace.memory();
  CHECK(memory.device == 0);
  REQUIRE(memory.categories.size() == 2);
  // At the end 1000 are allocated. Back in time: a free of 2000, an allocation of 400, one of 2000:
  // 600 at the begin, then 2600, 2600 (a segment), 3000, 1000 + 2000 pending, 1000, 1000.
  REQUIRE(memory.size() == 6);
  CHECK(memory.total(0) == 2600);  // the first event is at time 0
  CHECK(memory.total(2) == 3000);
  CHECK(memory.peak() == 2);
  CHECK(memory.time_ns[2] == 100'000);
  CHECK(memory.bytes[3 * 2] == 1000);
  CHECK(memory.bytes[3 * 2 + 1] == 2000);
  CHECK(memory.total(5) == 1000);
  CHECK(memory.reserved[0] == 4096);
  CHECK(memory.reserved[1] == 4096 + 8192);
  CHECK(memory.reserved[5] == 4096);
  REQUIRE(memory.at_end.has_value());
  CHECK(memory.at_end->allocated_bytes == 1000);
  CHECK(memory.at_end->reserved_bytes == 4096);
  CHECK(memory.at_end->free_bytes == 3096);
  CHECK(memory.at_end->largest_free_bytes == 3096);
  CHECK(memory.at_end->free_pieces == 1);
  REQUIRE(memory.at_end->holders.size() == 2);
  CHECK(memory.at_end->holders[0].line.empty());  // before the history
  CHECK(memory.at_end->holders[0].bytes == 600);
  CHECK(memory.at_end->holders[1].line == "model.py:12 forward");
  CHECK(memory.at_end->holders[1].bytes == 400);
  CHECK(memory.failed.empty());
  CHECK(trace.report.damage.empty());
  REQUIRE(trace.report.warnings.size() == 1);
  CHECK(trace.report.warnings[0] == "device 0 is shown; 1 other devices also have memory");
}

TEST_CASE("memory_snapshot: the history is walked back from what is held at its end") {
  check_snapshot(read_file_of("memory_snapshot", "snapshot.pickle"));
}

TEST_CASE("memory_snapshot: the same as JSON gives the same") {
  check_snapshot(read_file_of("memory_snapshot", "snapshot.json"));
}

TEST_CASE(
    "memory_snapshot: a request that failed keeps its size, its code and what was held then") {
  // Free blocks side by side are one piece; the framework's own frames say nothing.
  const auto trace = read_bytes("memory_snapshot",
                                R"({"segments": [{"device": 0, "total_size": 100, "blocks": [
            {"size": 10, "state": "inactive"}, {"size": 20, "state": "inactive"},
            {"size": 40, "state": "active_allocated", "history": [{"frames": [
               {"filename": "??", "line": 0, "name": "malloc"},
               {"filename": "/usr/lib/python3/site-packages/torch/nn/modules/linear.py",
                "line": 114, "name": "forward"},
               {"filename": "train.py", "line": 7, "name": "step"},
               {"filename": "main.py", "line": 1, "name": "main"}]}]},
            {"size": 30, "state": "inactive"}]}],
          "device_traces": [[
            {"action": "alloc", "size": 40, "time_us": 1},
            {"action": "oom", "size": 50, "device_free": 5, "time_us": 2,
             "frames": [{"filename": "model.py", "line": 9, "name": "logits"}]},
            {"action": "segment_alloc", "size": 60, "time_us": 3}]]})");
  REQUIRE(trace.ok());
  const MemoryTimeline& memory = *trace->memory();
  REQUIRE(memory.at_end.has_value());
  CHECK(memory.at_end->free_bytes == 60);
  CHECK(memory.at_end->largest_free_bytes == 30);
  CHECK(memory.at_end->free_pieces == 2);
  REQUIRE(memory.at_end->holders.size() == 1);
  CHECK(memory.at_end->holders[0].line == "train.py:7 step");
  REQUIRE(memory.failed.size() == 1);
  CHECK(memory.failed[0].bytes == 50);
  CHECK(memory.failed[0].line == "model.py:9 logits");
  CHECK(memory.failed[0].device_free_bytes == 5);
  CHECK(memory.failed[0].allocated_bytes == 40);
  CHECK(memory.failed[0].reserved_bytes == 40);  // the segment of 60 came later
}

TEST_CASE("memory_snapshot: a pickle that would run code is refused") {
  // GLOBAL 'os system', a text, TUPLE1, REDUCE: what a harmful pickle does.
  const auto harmful =
      read_bytes("memory_snapshot", "\x80\x04"s + "cos\nsystem\n" + "\x8C\x04ls -" + "\x85R.");
  REQUIRE_FALSE(harmful.ok());
  CHECK(harmful.error().message ==
        "t: the pickle imports a Python object at byte 2; only plain lists, dictionaries, numbers "
        "and texts are read");
}

TEST_CASE("memory_snapshot: broken pickles are refused with the byte") {
  const auto message = [](const std::string& bytes) {
    const auto trace = read_bytes("memory_snapshot", bytes);
    return trace.ok() ? std::string("ok") : trace.error().message.substr(0, 60);
  };
  CHECK(message("\x80\x04"s).starts_with("t: the pickle ends before its last instruction"));
  CHECK(message("\x80\x04."s).starts_with("t: the pickle leaves no value at byte 2"));
  CHECK(message("\x80\x04"
                "a."s)
            .starts_with("t: the pickle uses a missing value"));
  CHECK(message("\x80\x04]K\x01s."s).starts_with("t: the pickle adds to something"));
  CHECK(
      message("\x80\x04h\x05."s).starts_with("t: the pickle reads something that was not stored"));
  CHECK(message("\x80\x04X\xFF\xFF\xFF\xFF"s).starts_with("t: the pickle is cut off"));
  CHECK(message("\x80\x04\x8D\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F."s)
            .starts_with("t: the pickle is cut off"));
  CHECK(message("\x80\x04}."s).starts_with("t: has no \"segments\""));
}

TEST_CASE("memory_snapshot: a list that contains itself a million times does not hang") {
  // One list of n references to one list of n references to an event: n * n events from 4 n bytes.
  std::string bytes = "\x80\x04}\x8C\x0D"s + "device_traces" + "]}q\x00"s + "0](";
  for (int i = 0; i < 20000; ++i) {
    bytes += "h\x00"s;
  }
  bytes += "eq\x01"s + "0(";
  for (int i = 0; i < 20000; ++i) {
    bytes += "h\x01"s;
  }
  bytes += "es.";
  const auto trace = read_bytes("memory_snapshot", bytes);
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().message.find("repeats its parts") != std::string::npos);
}

TEST_CASE("memory_snapshot: every prefix of a pickle is refused in one line") {
  std::ifstream file(FORETRACE_SOURCE_DIR "/tests/fixtures/memory_snapshot/snapshot.pickle",
                     std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  REQUIRE(bytes.size() > 300);
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    CHECK_FALSE(read_bytes("memory_snapshot", bytes.substr(0, size)).ok());
  }
}

TEST_CASE("memory_snapshot: sizes of 2^63 and events that do not fit the end do no harm") {
  const auto trace =
      read_bytes("memory_snapshot",
                 R"({"segments": [{"device": 0, "total_size": 9223372036854775807, "blocks": []}],
          "device_traces": [[{"action": "alloc", "size": 9223372036854775807, "time_us": 1},
                             {"action": "free_completed", "size": 10, "time_us": 2}, 7]]})");
  REQUIRE(trace.ok());
  CHECK(counted(trace->report, "not a JSON object") == 1);
  bool told = false;
  for (const std::string& warning : trace->report.warnings) {
    told = told || warning.find("contradicts") != std::string::npos;
  }
  CHECK(told);
}

TEST_CASE("memory_snapshot: other pickles and JSON are not taken for it") {
  const auto& reader = reader_called("memory_snapshot");
  CHECK(reader.sniff("\x80\x04}."s) == Confidence::no);
  CHECK(reader.sniff(R"({"traceEvents": [], "segments": 1})") == Confidence::no);
  CHECK(reader.sniff(R"({"segments": [], "device_traces": []})") == Confidence::yes);
}

}  // namespace
}  // namespace foretrace::trace
