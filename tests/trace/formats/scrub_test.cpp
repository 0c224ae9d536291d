// What is taken out of a trace before it is shared, and what must stay.
#include "trace/formats/scrub.h"

#include <string>

#include <doctest/doctest.h>

#include "tests/trace/formats/read_helpers.h"

namespace foretrace::trace {
namespace {

TEST_CASE("scrub: a path keeps its last part, words with slashes stay") {
  CHECK(without_paths("/data/me/train.py(12): main") == "train.py(12): main");
  CHECK(without_paths("load '../secret/x.bin' now") == "load 'x.bin' now");
  CHECK(without_paths("C:\\me\\run.py") == "C:run.py");
  CHECK(without_paths("src/model/net.py(3): f") == "net.py(3): f");
  CHECK(without_paths("forward/backward 1/2") == "forward/backward 1/2");
  CHECK(without_paths("void at::native::f<int, 4>(a / b)") == "void at::native::f<int, 4>(a / b)");
  CHECK(without_paths("") == "");
}

TEST_CASE("scrub: frames of files go, modules stay, and sequence numbers follow their rows") {
  LoadedTrace loaded = read_events(
      R"({"ph": "X", "cat": "python_function", "name": "/data/me/train.py(12): main", "pid": 1,
          "tid": 2, "ts": 1, "dur": 9},
         {"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 1, "tid": 2,
          "ts": 2, "dur": 7},
         {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 3, "dur": 5,
          "args": {"Sequence number": 4, "Call stack": "/data/me/train.py(12): main",
                   "Host name": "box", "Module Hierarchy": "net.fc"}})");
  const ScrubReport report = scrub(loaded.events);
  const EventTable& table = loaded.events;
  CHECK(report.frames == 1);
  CHECK(report.names == 1);  // the text of the arguments
  REQUIRE(table.size() == 2);
  CHECK(table.name_of(EventId{0}) == "nn.Module: Linear_0");
  CHECK(table.start_ns[1] == 2000);
  REQUIRE(table.sequence_numbers.size() == 1);
  CHECK(index(table.sequence_numbers[0].event) == 1);
  const Descriptor& descriptor = table.descriptors[index(table.descriptor[1])];
  CHECK(table.names[descriptor.text] == R"({"Module Hierarchy": "net.fc"})");
  // Nothing of it is left anywhere in the table of names.
  for (std::size_t i = 0; i < table.names.size(); ++i) {
    CHECK(table.names[make_id<NameId>(i)].find("me/") == std::string_view::npos);
    CHECK(table.names[make_id<NameId>(i)].find("box") == std::string_view::npos);
  }
}

TEST_CASE("scrub: the command goes, versions stay, and numbers of calls follow their rows") {
  LoadedTrace loaded = read_events(
      R"({"ph": "X", "cat": "python_function", "name": "/data/me/train.py(12): main", "pid": 1,
          "tid": 2, "ts": 1, "dur": 9},
         {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 3, "dur": 5,
          "args": {"Record function id": 4}})");
  loaded.events.info.environment = {
      {"command", "python /data/me/train.py"}, {"process", "7"}, {"CUDA driver", "13.0"}};
  scrub(loaded.events);
  REQUIRE(loaded.events.info.environment.size() == 1);
  CHECK(loaded.events.info.environment[0].first == "CUDA driver");
  REQUIRE(loaded.events.record_functions.size() == 1);
  CHECK(index(loaded.events.record_functions[0].event) == 0);
}

TEST_CASE("scrub: a table without anything of the kind does not change") {
  LoadedTrace loaded = read_events(
      R"({"ph": "X", "cat": "kernel", "name": "a/b", "pid": 0, "tid": 7, "ts": 1, "dur": 1,
          "args": {"device": 0, "stream": 7, "note": "x"}})");
  const ScrubReport report = scrub(loaded.events);
  CHECK(report.frames == 0);
  CHECK(report.names == 0);
  CHECK(loaded.events.size() == 1);
}

}  // namespace
}  // namespace foretrace::trace
