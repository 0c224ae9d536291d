// Chakra as JSON; fixtures are written by tests/fixtures/chakra_et/make_fixtures.py.
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "tests/trace/formats/node_helpers.h"

namespace foretrace::trace {
namespace {

TEST_CASE("chakra_json: printed messages hold what the protobuf holds") {
  const LoadedTrace json = read_file_of("chakra_json", "two_streams.json");
  const LoadedTrace binary = read_file_of("chakra_et", "two_streams.et");
  const NodeGraph& a = *json.nodes();
  const NodeGraph& b = *binary.nodes();
  CHECK(a.schema == b.schema);
  CHECK(a.id == b.id);
  CHECK(a.kind == b.kind);
  CHECK(a.place == b.place);
  CHECK(a.parent == b.parent);
  CHECK(a.duration_ns == b.duration_ns);
  CHECK(a.record_function == b.record_function);
  CHECK(a.stream == b.stream);
  CHECK(a.data == b.data);
  CHECK(a.control == b.control);
  CHECK(a.tensors.size() == b.tensors.size());
  REQUIRE(a.communications.size() == b.communications.size());
  CHECK(a.communications[0].bytes == b.communications[0].bytes);
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(node_name(json, i) == node_name(binary, i));
  }
}

TEST_CASE("chakra_json: the feeder's list is read with its own keys") {
  const LoadedTrace trace = read_file_of("chakra_json", "workload_graph.json");
  REQUIRE(trace.nodes()->size() == 6);
  CHECK(trace.nodes()->kind[4] == NodeKind::collective);
  CHECK(trace.nodes()->place[4] == NodePlace::device);
  CHECK(trace.nodes()->duration_ns[4] == 100'000);
  CHECK(data_of(*trace.nodes(), 4) == std::vector<std::uint64_t>{4, 3});
}

TEST_CASE("chakra_json: damage is counted, and text without nodes is refused") {
  const auto damaged =
      read_bytes("chakra_json", R"({"workload_graph": [{"Id": 1, "NodeType": 99, "runtime": -5},
                        {"Id": 2, "data_deps": [1, 7]}, {"Id": 2}, [], {"Name": "x"}]})");
  REQUIRE(damaged.ok());
  CHECK(damaged->nodes()->size() == 2);
  CHECK(counted(damaged->report, "unknown type of node") == 1);
  CHECK(counted(damaged->report, "time out of range") == 1);
  CHECK(counted(damaged->report, "dependency on a node that is not in the file") == 1);
  CHECK(counted(damaged->report, "second node of the same id") == 1);
  CHECK(counted(damaged->report, "node without an id") == 1);
  const auto empty = read_bytes("chakra_json", R"({"workload_graph": []})");
  REQUIRE_FALSE(empty.ok());
  CHECK(empty.error().message == "t: is JSON without nodes of an execution trace");
}

TEST_CASE("chakra_json: amounts that cannot be are counted, and not known") {
  const auto damaged = read_bytes("chakra_json", R"({"workload_graph": [
      {"Id": 1, "NodeType": 7, "runtime": 1, "comm_type": 0, "comm_size": 9223372036854775807},
      {"Id": 2, "NodeType": 7, "runtime": 1, "comm_type": 99, "comm_size": -4096},
      {"Id": 3, "NodeType": 7, "runtime": 1, "comm_type": 2, "comm_size": -1},
      {"Id": 4, "NodeType": 7, "runtime": 1, "comm_type": 2, "comm_size": 4096}]})");
  REQUIRE_MESSAGE(damaged.ok(), damaged.error().message);
  const auto& told = damaged->nodes()->communications;
  REQUIRE(told.size() == 4);
  CHECK(told[0].bytes == -1);
  CHECK(told[1].bytes == -1);
  CHECK(told[2].bytes == -1);  // how writers say that they do not know
  CHECK(told[3].bytes == 4096);
  CHECK(counted(damaged->report, "size out of range") == 2);
  CHECK(counted(damaged->report, "comm_type that no collective has") == 1);
}

TEST_CASE("chakra_json: a stream that ends inside a node keeps the nodes before it") {
  const auto cut = read_bytes("chakra_json", R"({"attr": []}{"id": "1"}{"id": "2"}{"id": )");
  REQUIRE(cut.ok());
  CHECK(cut->nodes()->size() == 2);
  REQUIRE(cut->report.warnings.size() == 1);
  CHECK(cut->report.warnings[0].find("ends early") != std::string::npos);
}

TEST_CASE("chakra_json: other JSON is not taken for it") {
  const auto& reader = reader_called("chakra_json");
  CHECK(reader.sniff(R"({"schema": "1.0.1", "pid": 1, "nodes": []})") == Confidence::no);
  CHECK(reader.sniff(R"({"attr": []})") == Confidence::no);
  CHECK(reader.sniff(R"({"attr": []}{"id": 1})") == Confidence::yes);
  CHECK(reader.sniff(R"([{"ph": "X"}])") == Confidence::no);
}

TEST_CASE("chakra_json: a real printed trace holds what the real protobuf holds") {
  const std::string folder = FORETRACE_SHARED_DIR "/traces/megatron_tp2_v100/";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: no real traces in " << folder);
    return;
  }
  const auto json = read_trace(folder + "final.0.json.gz", {});
  const auto binary = read_trace(folder + "final.0.et.gz", {});
  REQUIRE_MESSAGE(json.ok(), json.error().message);
  REQUIRE_MESSAGE(binary.ok(), binary.error().message);
  CHECK(json->nodes()->id == binary->nodes()->id);
  CHECK(json->nodes()->duration_ns == binary->nodes()->duration_ns);
  CHECK(json->nodes()->data == binary->nodes()->data);
  CHECK(json->nodes()->place == binary->nodes()->place);
}

}  // namespace
}  // namespace foretrace::trace
