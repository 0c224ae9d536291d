// Execution traces beside timed traces of the same run.
#include "trace/link/execution_trace.h"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "tests/trace/formats/node_helpers.h"

namespace foretrace::trace {
namespace {

LoadedTrace timed(const std::string& events) {
  auto loaded =
      read_bytes("kineto_json", R"({"schemaVersion": 1, "traceEvents": [)" + events + "]}");
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  return std::move(loaded).value();
}

std::string call(const std::string& name, int time, int id) {
  return R"({"ph": "X", "cat": "cpu_op", "name": ")" + name + R"(", "pid": 1, "tid": 1, "ts": )" +
         std::to_string(time) + R"(, "dur": 1, "args": {"External id": )" + std::to_string(id) +
         "}},\n";
}

TEST_CASE("execution link: equal ids with equal names match, and events get shapes") {
  const LoadedTrace execution = read_file_of("pytorch_et", "schema_1.0.1.json");
  LoadedTrace trace = timed(call("aten::mul", 0, 1) + call("aten::cat", 5, 2) + "{}");
  const auto link = link_execution_trace(trace.events, execution);
  REQUIRE_MESSAGE(link.ok(), link.error().message);
  CHECK(link->method == "id");
  CHECK(link->matched == 2);
  CHECK(link->shapes_added == 2);
  const Descriptor& shapes = trace.events.descriptors[index(trace.events.descriptor[0])];
  CHECK(trace.events.names[shapes.dims] == "[[8, 8], []]");
  // Tensors stand with the node: aten::mul reads storage 6.
  const NodeId node = link->node[0];
  CHECK(execution.nodes()->tensors[0].node == node);
  CHECK(execution.nodes()->tensors[0].storage == 6);
}

TEST_CASE("execution link: the id that the profiler wrote of a call goes before its external id") {
  const LoadedTrace execution = read_file_of("pytorch_et", "schema_1.0.1.json");
  // External ids say the wrong call for both; "Record function id" is rf_id.
  const auto numbered = [](const std::string& name, int time, int external, int number) {
    return R"({"ph": "X", "cat": "cpu_op", "name": ")" + name + R"(", "pid": 1, "tid": 1, "ts": )" +
           std::to_string(time) + R"(, "dur": 1, "args": {"External id": )" +
           std::to_string(external) + R"(, "Record function id": )" + std::to_string(number) +
           "}},\n";
  };
  LoadedTrace trace = timed(numbered("aten::mul", 0, 2, 1) + numbered("aten::cat", 5, 1, 2) + "{}");
  const auto link = link_execution_trace(trace.events, execution);
  REQUIRE_MESSAGE(link.ok(), link.error().message);
  CHECK(link->method == "id");
  CHECK(link->matched == 2);
}

std::string node(int id, const std::string& name) {
  return R"({"id": )" + std::to_string(id) + R"(, "name": ")" + name + R"(", "rf_id": )" +
         std::to_string(id) + R"(, "tid": 1},)" + "\n";
}

TEST_CASE("execution link: without common ids names in order match, across calls one side lacks") {
  std::string nodes;
  std::string events;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "op" + std::to_string(i);
    nodes += node(i + 2, name);
    events += i == 20 ? "" : call(name, 10 * i, 1000 + i);  // one is missing in the timed trace
  }
  auto execution = read_bytes("pytorch_et", R"({"schema": "1.0.1", "nodes": [)" + nodes + "]}");
  REQUIRE(execution.ok());
  LoadedTrace trace = timed(events + "{}");
  const auto link = link_execution_trace(trace.events, *execution);
  REQUIRE_MESSAGE(link.ok(), link.error().message);
  CHECK(link->method == "order and name");
  CHECK(link->matched == 39);
  CHECK(link->nodes == 40);
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    REQUIRE(link->node[i] != none<NodeId>);
    CHECK(trace.events.name_of(make_id<EventId>(i)) == node_name(*execution, index(link->node[i])));
  }
}

TEST_CASE("execution link: traces of different runs are refused with the count") {
  const LoadedTrace execution = read_file_of("pytorch_et", "schema_1.0.1.json");
  LoadedTrace trace = timed(call("aten::add", 0, 1) + call("aten::sub", 5, 2) + "{}");
  const auto link = link_execution_trace(trace.events, execution);
  REQUIRE_FALSE(link.ok());
  CHECK(link.error().message.find("are not of one run: 0 of 2 nodes") != std::string::npos);
}

TEST_CASE("execution link: real pairs match nearly whole") {
  struct Pair {
    const char* execution;
    const char* timed;
    std::string_view method;
    double least;
  };
  const std::string folder = FORETRACE_SHARED_DIR "/traces/";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: no real traces in " << folder);
    return;
  }
  for (const Pair& pair :
       {Pair{"hta/simple_add_et.json.gz", "hta/simple_add_trace.json.gz", "id", 1.0},
        // 1,880 of 1,881 nodes that stand for calls; the last has a call outside of the window.
        Pair{"megatron_tp2_v100/pytorch_et_0.json.gz", "megatron_tp2_v100/kineto_0.json.gz", "id",
             0.999},
        Pair{"megatron_tp8_a100/et_0.json.gz", "megatron_tp8_a100/kineto_0.json.gz",
             "order and name", 0.97},
        Pair{"triosim/vgg13_h100_et.json.gz", "triosim/vgg13_h100_kineto.json.gz", "order and name",
             0.97}}) {
    CAPTURE(pair.execution);
    const auto execution = read_trace(folder + pair.execution, {});
    auto trace = read_trace(folder + pair.timed, {});
    REQUIRE(execution.ok());
    REQUIRE(trace.ok());
    const auto link = link_execution_trace(trace->events, *execution);
    REQUIRE_MESSAGE(link.ok(), link.error().message);
    CHECK(link->method == pair.method);
    CHECK(static_cast<double>(link->matched) >= pair.least * static_cast<double>(link->nodes));
  }
}

}  // namespace
}  // namespace foretrace::trace
