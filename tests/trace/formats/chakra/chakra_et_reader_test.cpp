// Chakra protobuf; fixtures are written by tests/fixtures/chakra_et/make_fixtures.py.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include "tests/trace/formats/node_helpers.h"

namespace foretrace::trace {
namespace {

using namespace std::string_literals;

TEST_CASE("chakra_et: nodes come with dependencies, durations, streams and communication") {
  const LoadedTrace trace = read_file_of("chakra_et", "two_streams.et");
  const NodeGraph& nodes = *trace.nodes();
  REQUIRE(nodes.size() == 6);
  CHECK(nodes.schema == "1.1.0-chakra.0.0.4");
  CHECK(node_name(trace, 1) == "aten::add");
  CHECK(nodes.duration_ns[1] == 10'000);  // 10 us
  CHECK(nodes.duration_ns[0] == -1);      // 0 is not written
  CHECK(nodes.place[1] == NodePlace::host);
  CHECK(nodes.place[2] == NodePlace::device);
  CHECK(nodes.stream[2] == 7);
  CHECK(nodes.record_function[1] == 11);
  CHECK(data_of(nodes, 4) == std::vector<std::uint64_t>{4, 3});
  REQUIRE(nodes.communications.size() == 1);
  CHECK(nodes.communications[0].node == NodeId{4});
  CHECK(trace.events.names[nodes.communications[0].kind] == "all_reduce");
  CHECK(nodes.communications[0].bytes == 256);
  REQUIRE(nodes.tensors.size() == 2);  // Python's spelling of the arguments
  CHECK(nodes.tensors[1].storage == 8);
  const NodeSignature& signature = nodes.signatures[nodes.signature[1]];
  CHECK(trace.events.names[signature.types] == R"x(["Tensor(float)", "Tensor(float)", "Int"])x");
  CHECK(trace.report.damage.empty());  // node 1 depends on 0, which writers do not write
}

// Messages by hand: key = number * 8 + wire type.
const std::string metadata = "\x00"s;  // an empty description of the run
std::string delimited(const std::string& message) {
  return static_cast<char>(message.size()) + message;
}
std::string node(char id, const std::string& rest = {}) {
  return delimited("\x08"s + id + "\x12\x01n"s + rest);
}

TEST_CASE("chakra_et: duplicate ids, missing nodes and types beyond the schema are counted") {
  const auto trace =
      read_bytes("chakra_et", metadata + node(1) + node(2, "\x28\x01\x28\x09"s) + node(2) +
                                  node(3, "\x18\x63"s) + delimited("\x12\x01x"s));
  REQUIRE(trace.ok());
  CHECK(trace->nodes()->size() == 3);
  CHECK(counted(trace->report, "second node of the same id") == 1);
  CHECK(counted(trace->report, "dependency on a node that is not in the file") == 1);
  CHECK(counted(trace->report, "unknown type of node") == 1);
  CHECK(counted(trace->report, "node without an id") == 1);
}

TEST_CASE("chakra_et: sizes and times of 2^63 are no sizes and times") {
  const std::string big = "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"s;  // 2^63
  const auto trace =
      read_bytes("chakra_et", metadata + node(1, "\x38"s + big) + node(2, "\x42"s + big));
  REQUIRE(trace.ok());
  CHECK(trace->nodes()->size() == 1);
  CHECK(trace->nodes()->duration_ns[0] == -1);
  CHECK(counted(trace->report, "time out of range") == 1);
  CHECK(counted(trace->report, "broken message of a node") == 1);
  const auto endless = read_bytes("chakra_et", metadata + node(1) + big);
  REQUIRE(endless.ok());
  REQUIRE(endless->report.warnings.size() == 1);
  CHECK(endless->report.warnings[0].find("begins no message") != std::string::npos);
}

TEST_CASE("chakra_et: a field of another type than the schema's drops the node") {
  const auto trace = read_bytes("chakra_et", metadata + node(1) + node(2, "\x1A\x01z"s));
  REQUIRE(trace.ok());
  CHECK(trace->nodes()->size() == 1);
  CHECK(counted(trace->report, "field 3 of a node has the wrong type") == 1);
}

TEST_CASE("chakra_et: every prefix of a file is read or refused in one line") {
  std::ifstream file(FORETRACE_SOURCE_DIR "/tests/fixtures/chakra_et/two_streams.et",
                     std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  REQUIRE(bytes.size() > 500);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto trace = read_bytes("chakra_et", bytes.substr(0, size));
    if (!trace.ok()) {
      CHECK(trace.error().message == "t: has no nodes of a Chakra execution trace");
    } else {
      CHECK(trace->nodes()->size() <= 6);
    }
  }
}

TEST_CASE("chakra_et: other bytes are not taken for it") {
  const auto& reader = reader_called("chakra_et");
  CHECK(reader.sniff("") == Confidence::no);
  CHECK(reader.sniff(R"({"traceEvents": []})") == Confidence::no);
  CHECK(reader.sniff("SQLite format 3\0"s) == Confidence::no);
  CHECK(reader.sniff("\x0A\x10\x12\x0E/device:GPU:0\x08\x01"s) == Confidence::no);  // XPlane
  CHECK(reader.sniff("\x28\x00"s) == Confidence::no);
  CHECK(reader.sniff(metadata + node(1)) == Confidence::yes);
}

TEST_CASE("chakra_et: a real trace is read whole") {
  const std::string path = FORETRACE_SHARED_DIR "/traces/megatron_tp2_v100/final.0.et.gz";
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped: no real trace " << path);
    return;
  }
  const auto trace = read_trace(path, {});
  REQUIRE_MESSAGE(trace.ok(), trace.error().message);
  CHECK(trace->nodes()->size() == 2128);
  CHECK(trace->report.damage.empty());
  CHECK(trace->nodes()->communications.size() == 13);
}

}  // namespace
}  // namespace foretrace::trace
