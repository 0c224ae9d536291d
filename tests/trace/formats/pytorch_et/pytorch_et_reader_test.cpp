// PyTorch execution traces; fixtures are written by tests/fixtures/chakra_et/make_fixtures.py.
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "tests/trace/formats/node_helpers.h"
#include "trace/assemble/build_graph.h"

namespace foretrace::trace {
namespace {

void check_parts(const LoadedTrace& trace) {
  REQUIRE(trace.nodes() != nullptr);
  const NodeGraph& nodes = *trace.nodes();
  REQUIRE(nodes.size() == 4);  // in order of their ids, whatever the order of the file
  CHECK(node_name(trace, 2) == "aten::mul");
  CHECK(nodes.id == std::vector<std::uint64_t>{1, 2, 3, 4});
  CHECK(nodes.parent[1] == NodeId{0});
  CHECK(nodes.parent[0] == none<NodeId>);  // the process is its own parent in the file
  CHECK(nodes.record_function[3] == 2);
  CHECK(nodes.kind[0] == NodeKind::metadata);
  CHECK(nodes.kind[2] == NodeKind::compute);
  const NodeSignature& signature = nodes.signatures[nodes.signature[2]];
  CHECK(trace.events.names[signature.values] == R"(["", "2"])");
  CHECK(trace.events.names[signature.shapes] == "[[8, 8], []]");
  CHECK(trace.events.names[signature.types] == R"x(["Tensor(float)", "Int"])x");
  // aten::mul reads one and writes one tensor; aten::cat reads a list of two and writes one.
  REQUIRE(nodes.tensors.size() == 5);
  CHECK(nodes.tensors[0].storage == 6);
  CHECK(nodes.tensors[0].elements == 64);
  CHECK(trace.events.names[nodes.tensors[0].device] == "cuda:0");
  CHECK_FALSE(nodes.tensors[0].is_output);
  CHECK(nodes.tensors[1].is_output);
  CHECK(nodes.tensors[3].node == NodeId{3});
  CHECK(nodes.tensors[3].tensor == 9);
  CHECK(trace.report.damage.empty());
  CHECK(trace.report.warnings.empty());
}

TEST_CASE("pytorch_et: the flat schema of 2023 and the nested one of 2024 give the same nodes") {
  const LoadedTrace flat = read_file_of("pytorch_et", "schema_1.0.1.json");
  CHECK(flat.nodes()->schema == "1.0.1");
  check_parts(flat);
  const LoadedTrace nested = read_file_of("pytorch_et", "schema_1.1.0.json");
  CHECK(nested.nodes()->schema == "1.1.0-chakra.0.0.4");
  check_parts(nested);
}

TEST_CASE("pytorch_et: simulating operators without times is an error that says what is missing") {
  const LoadedTrace trace = read_file_of("pytorch_et", "schema_1.0.1.json");
  const auto built = build_graph(trace);
  REQUIRE_FALSE(built.ok());
  CHECK(built.error().code == ErrorCode::missing_cost);
  CHECK(built.error().message.find("add the Kineto trace of the same run") != std::string::npos);
}

std::string with_nodes(const std::string& nodes) {
  return R"({"schema": "1.0.1", "pid": 1, "nodes": [)" + nodes + "]}";
}

TEST_CASE("pytorch_et: damaged nodes are dropped and counted, the others are kept") {
  const auto trace = read_bytes(
      "pytorch_et", with_nodes(R"({"id": 2, "name": "a", "parent": 1}, {"name": "no id"}, 7,
                    {"id": 2, "name": "again"}, {"id": 3, "name": "b", "parent": 9},
                    {"id": "four", "name": "c"}, {"id": 5, "name": "d" "x"})"));
  REQUIRE(trace.ok());
  CHECK(trace->nodes()->size() == 2);
  CHECK(counted(trace->report, "node without an id") == 2);
  CHECK(counted(trace->report, "node is not an object") == 1);
  CHECK(counted(trace->report, "second node of the same id") == 1);
  CHECK(counted(trace->report, "parent is not in the file") == 2);
  ReadOptions strict;
  strict.strict = true;
  CHECK_FALSE(read_bytes("pytorch_et", with_nodes("{}"), strict).ok());
}

TEST_CASE("pytorch_et: numbers beyond 64 bits and tensors of 2^63 elements do no harm") {
  const auto trace = read_bytes(
      "pytorch_et",
      with_nodes(R"({"id": 1, "name": "a", "inputs": [[1, 2, 0, 9223372036854775808, 4, "cpu"]]},
                    {"id": 2, "name": "b", "inputs": [[1, 2, 0, 4611686018427387904, 8, "cpu"]]},
                    {"id": 99999999999999999999999, "name": "c"})"));
  REQUIRE(trace.ok());
  CHECK(trace->nodes()->size() == 2);
  // 2^63 is no size; 2^62 is kept as it is, and nobody multiplies it unchecked.
  CHECK(trace->nodes()->tensors.size() == 1);
}

TEST_CASE("pytorch_et: a file that ends early keeps what stands before, and says so") {
  const std::string text = with_nodes(R"({"id": 1, "name": "a"}, {"id": 2, "name": "b"})");
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto trace = read_bytes("pytorch_et", text.substr(0, size));
    if (trace.ok()) {
      CHECK(trace->report.warnings.size() == 1);
    } else {
      CHECK(trace.error().message.find("nodes") != std::string::npos);
    }
  }
}

TEST_CASE("pytorch_et: other JSON is not taken for an execution trace") {
  const auto& reader = reader_called("pytorch_et");
  CHECK(reader.sniff(R"({"schemaVersion": 1, "traceEvents": []})") == Confidence::no);
  CHECK(reader.sniff(R"({"schema": "1.0.1", "traceEvents": [], "nodes": []})") == Confidence::no);
  CHECK(reader.sniff(R"([{"ph": "X"}])") == Confidence::no);
  CHECK(reader.sniff(R"({"schema": "1.0.1", "pid": 1, "time": "", "start_ts": 2, "no)") ==
        Confidence::yes);
}

TEST_CASE("pytorch_et: real traces of every schema are read whole") {
  struct Real {
    const char* path;
    std::size_t nodes;
  };
  const std::string folder = FORETRACE_SHARED_DIR "/traces/";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: no real traces in " << folder);
    return;
  }
  for (const Real& real :
       {Real{"hta/simple_add_et.json.gz", 38}, Real{"param_et/linear_et.json.gz", 931},
        Real{"megatron_tp2_v100/pytorch_et_0.json.gz", 1884},
        Real{"triosim/vgg13_h100_et.json.gz", 903}}) {
    CAPTURE(real.path);
    const auto trace = read_trace(folder + real.path, {});
    REQUIRE_MESSAGE(trace.ok(), trace.error().message);
    CHECK(trace->events.info.format == "pytorch_et");
    CHECK(trace->nodes()->size() == real.nodes);
    CHECK(trace->report.damage.empty());
  }
}

}  // namespace
}  // namespace foretrace::trace
