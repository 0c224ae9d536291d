// Tensors of execution traces: one per storage.
#include "trace/nodes/storages/node_tensors.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/engine/memory/memory_tracker.h"
#include "sim/engine/pull/pull.h"
#include "tests/trace/formats/node_helpers.h"
#include "trace/assemble/build_graph.h"
#include "trace/nodes/storages/memory_graph.h"
#include "trace/nodes/storages/storage_lives.h"

namespace foretrace::trace {
namespace {

/// {number of the storage, elements}: 4 bytes each on cuda:0, tensor ids as storages.
struct Use {
  std::uint64_t storage = 0;
  std::uint64_t elements = 0;
  std::string device = "cuda:0";
};

std::string list_of(const std::vector<Use>& uses) {
  std::string text;
  for (const Use& use : uses) {
    text += fmt::format(R"({}[{}, {}, 0, {}, 4, "{}"])", text.empty() ? "" : ", ", use.storage,
                        use.storage, use.elements, use.device);
  }
  return text;
}

/// A trace node by node; the first two are the process and its thread.
class Sketch {
 public:
  int call(int around, std::string_view name, const std::vector<Use>& inputs,
           const std::vector<Use>& outputs) {
    const int id = next_++;
    text_ += fmt::format(
        R"(, {{"id": {}, "name": "{}", "ctrl_deps": {}, "inputs": {{"values": [{}]}},
        "outputs": {{"values": [{}]}}, "attrs": [{{"name": "tid", "value": 1}}]}})",
        id, name, around, list_of(inputs), list_of(outputs));
    return id;
  }
  int call(std::string_view name, const std::vector<Use>& inputs, const std::vector<Use>& outputs) {
    return call(2, name, inputs, outputs);
  }
  [[nodiscard]] LoadedTrace read() const {
    auto trace = read_bytes("pytorch_et", text_ + "]}");
    REQUIRE(trace.ok());
    return std::move(trace).value();
  }
  [[nodiscard]] BuiltGraph build() const {
    auto built = build_memory_graph(read());
    REQUIRE_MESSAGE(built.ok(), built.error().message);
    return std::move(built).value();
  }

 private:
  int next_ = 3;
  std::string text_ =
      R"({"schema": "1.1.0", "nodes": [)"
      R"({"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1},)"
      R"({"id": 2, "name": "[pytorch|profiler|execution_trace|thread]", "ctrl_deps": 1})";
};

/// Requested bytes and the ids of the nodes before which a tensor comes and goes; -1: it does not.
using Row = std::array<std::int64_t, 3>;
std::vector<Row> rows_of(const BuiltGraph& built) {
  std::vector<Row> rows;
  for (const Tensor& tensor : built.graph.context().tensors) {
    const auto id = [](TaskId task) {
      return task == none<TaskId> ? -1 : static_cast<std::int64_t>(index(task)) + 1;
    };
    rows.push_back({tensor.requested_bytes, id(tensor.allocated_in), id(tensor.freed_in)});
  }
  return rows;
}

MemoryCurve curve_of(const BuiltGraph& built) {
  const auto curves = track_memory(built.graph, simulate(built.graph));
  REQUIRE(curves.size() == 1);
  return curves[0];
}

TEST_CASE("node tensors: views and in-place results are the storage they had before") {
  Sketch sketch;
  sketch.call("aten::empty", {}, {{1, 100}});            // 3
  sketch.call("aten::view", {{1, 100}}, {{1, 100}});     // 4
  sketch.call("aten::relu_", {{1, 100}}, {{1, 100}});    // 5
  sketch.call("aten::expand", {{1, 100}}, {{1, 5000}});  // 6: no more memory than before
  sketch.call("aten::sum", {{1, 5000}}, {{2, 1}});       // 7
  sketch.call("aten::item", {{2, 1}}, {});               // 8
  // 1 is used by 7 for the last time, so it is gone before 8; 2 is gone before the end.
  CHECK(rows_of(sketch.build()) == std::vector<Row>{{400, 3, 8}, {4, 7, 9}});
}

TEST_CASE("node tensors: blocks are multiples of 512 bytes") {
  Sketch sketch;
  sketch.call("aten::empty", {}, {{1, 1}});
  sketch.call("aten::empty", {}, {{2, 129}});
  const BuiltGraph built = sketch.build();
  CHECK(built.graph.context().tensors[0].bytes == 512);
  CHECK(built.graph.context().tensors[1].bytes == 1024);  // 516 bytes
  CHECK(block_bytes(512) == 512);
  CHECK(block_bytes(0) == 512);
}

TEST_CASE("node tensors: an address that is written afresh after its last use is another tensor") {
  Sketch sketch;
  sketch.call("aten::mm", {{9, 10}}, {{1, 100}});     // 3
  sketch.call("aten::relu", {{1, 100}}, {{2, 100}});  // 4: the last use of the first
  sketch.call("aten::mm", {{2, 100}}, {{1, 100}});    // 5: not given 1, puts it out
  sketch.call("aten::mm", {{1, 100}}, {{3, 300}});    // 6
  sketch.call("aten::mm", {{3, 300}}, {{1, 700}});    // 7: and another size
  CHECK(rows_of(sketch.build()) ==
        std::vector<Row>{
            {40, -1, -1}, {400, 3, 5}, {400, 4, 6}, {400, 5, 7}, {1200, 6, 8}, {2800, 7, 8}});
}

TEST_CASE(
    "node tensors: what is read first was there before and stays, unless its place is taken") {
  Sketch sketch;
  sketch.call("aten::mm", {{1, 100}, {2, 200}}, {{3, 300}});  // 3
  sketch.call("aten::mm", {{1, 100}}, {{2, 50}});             // 4: the memory of 2 is free again
  CHECK(rows_of(sketch.build()) ==
        std::vector<Row>{{400, -1, -1}, {800, -1, 4}, {1200, 3, 4}, {200, 4, 5}});
}

TEST_CASE("node tensors: what is larger than what was allocated there is something else") {
  Sketch sketch;
  sketch.call("aten::empty", {}, {{1, 100}});  // 3
  sketch.call("custom::op", {{1, 100}}, {});   // 4
  sketch.call("custom::op", {{1, 1000}}, {});  // 5: allocated where no node is
  sketch.call("custom::op", {{2, 10}}, {});    // 6: a part of what was there before
  sketch.call("custom::op", {{2, 20}}, {});    // 7: and a larger one
  CHECK(rows_of(sketch.build()) == std::vector<Row>{{400, 3, 5}, {4000, 5, 6}, {80, -1, -1}});
}

TEST_CASE("node tensors: an operator allocated what is used inside it and was not given to it") {
  Sketch sketch;
  const int pool = sketch.call("aten::max_pool2d_with_indices_backward", {{1, 100}}, {{2, 400}});
  sketch.call(pool, "aten::zero_", {{2, 400}}, {{2, 400}});         // 4
  sketch.call("aten::relu", {{2, 400}}, {{3, 400}});                // 5
  const int step = sketch.call("Optimizer.step#SGD.step", {}, {});  // 6: a range lists nothing
  sketch.call(step, "aten::add_", {{4, 10}}, {{4, 10}});
  const std::vector<Row> rows = rows_of(sketch.build());
  CHECK(rows == std::vector<Row>{{400, -1, -1}, {1600, 3, 6}, {1600, 5, 6}, {40, -1, -1}});
}

TEST_CASE("node tensors: a gradient stays until zero_grad, one that is added to stays") {
  Sketch sketch;
  sketch.call("aten::mm", {{1, 100}}, {{2, 100}});                                    // 3
  const int first = sketch.call("torch::autograd::AccumulateGrad", {{2, 100}}, {});   // 4: taken
  sketch.call(first, "aten::detach", {{2, 100}}, {{2, 100}});                         // 5
  sketch.call("aten::mm", {{1, 100}}, {{3, 100}});                                    // 6
  const int second = sketch.call("torch::autograd::AccumulateGrad", {{3, 100}}, {});  // 7: added
  sketch.call(second, "aten::add_", {{4, 100}, {3, 100}}, {{4, 100}});                // 8
  sketch.call("aten::mm", {{1, 100}}, {{5, 7}});                                      // 9
  sketch.call("Optimizer.zero_grad#SGD.zero_grad", {}, {});                           // 10
  sketch.call("aten::item", {{5, 7}}, {});                                            // 11
  const BuiltGraph built = sketch.build();
  CHECK(rows_of(built) ==
        std::vector<Row>{{400, -1, -1}, {400, 3, 11}, {400, 6, 9}, {400, -1, -1}, {28, 9, 12}});
  const auto& tensors = built.graph.context().tensors;
  CHECK(tensors[1].category == TensorCategory::gradient);
  CHECK(tensors[2].category != TensorCategory::gradient);
  CHECK(tensors[3].category == TensorCategory::gradient);
}

TEST_CASE("node tensors: two steps of training give every category and the live bytes by hand") {
  const LoadedTrace trace = read_file_of("pytorch_et", "training_steps.json");
  CHECK(is_memory_only(trace));
  const auto built = build_memory_graph(trace);
  REQUIRE(built.ok());
  // Two parameters before; in each step input, output, workspace, relu, loss, its gradient (which
  // is expanded), the gradient of the output, two of parameters; two states of the optimizer.
  std::map<TensorCategory, int> counts;
  for (const Tensor& tensor : built->graph.context().tensors) ++counts[tensor.category];
  CHECK(counts[TensorCategory::weight] == 2);
  CHECK(counts[TensorCategory::input] == 2);
  CHECK(counts[TensorCategory::workspace] == 2);
  CHECK(counts[TensorCategory::gradient] == 4);
  CHECK(counts[TensorCategory::optimizer_state] == 2);
  CHECK(counts[TensorCategory::activation_gradient] == 2);
  CHECK(built->graph.context().tensors.size() == 22);
  CHECK(built->parameters.parameters == 32768 + 128);
  CHECK(built->parameters.is_exact);
  CHECK(built->parameters.optimizer == "SGD");
  constexpr std::int64_t parameters = 131072 + 512;
  const MemoryCurve curve = curve_of(*built);
  CHECK(curve.base_bytes == parameters);
  // In the second product: parameters, states, input, output, workspace.
  CHECK(curve.peak_bytes == 2 * parameters + 65536 + 32768 + 1048576);
  // Gradients of the second step are there until the next zero_grad, which is not recorded.
  CHECK(curve.end_bytes == 3 * parameters);
}

TEST_CASE(
    "node tensors: an inner call and the one around it that disagree on a device do no harm") {
  Sketch sketch;
  const int outer = sketch.call("custom::op", {}, {{1, 1000, "cuda:0"}});
  sketch.call(outer, "aten::empty", {}, {{1, 1000, "cuda:1"}});
  sketch.call("aten::relu", {{1, 1000, "cuda:0"}}, {});
  const BuiltGraph built = sketch.build();
  const auto curves = track_memory(built.graph, simulate(built.graph));
  REQUIRE(curves.size() == 2);
  for (const MemoryCurve& curve : curves) {
    CHECK(curve.peak_bytes == 4096);  // 4,000 bytes in blocks of 512
    CHECK(curve.end_bytes == 0);
    for (const MemoryPoint& point : curve.points) CHECK(point.live_bytes >= 0);
  }
}

TEST_CASE("node tensors: absurd sizes are left out and told, and nothing overflows") {
  constexpr std::uint64_t most = std::uint64_t{1} << 62U;
  Sketch sketch;
  sketch.call("aten::empty", {}, {{1, most}});
  sketch.call("aten::empty", {}, {{2, 100}});
  for (std::uint64_t i = 0; i < 5000; ++i) {  // 2^50 bytes each: the sum stops at 2^61
    sketch.call("aten::empty", {}, {{100 + i, std::uint64_t{1} << 48U}});
  }
  const BuiltGraph built = sketch.build();
  CHECK(built.memory_note.find("absurd size left out") != std::string::npos);
  std::int64_t sum = 0;
  for (const Tensor& tensor : built.graph.context().tensors) sum += tensor.bytes;
  CHECK(sum > 0);
  CHECK(sum <= (std::int64_t{1} << 61) + std::int64_t{5002} * 512);
  CHECK(curve_of(built).end_bytes >= 0);
}

TEST_CASE("node tensors: nodes with durations carry them on the device that they run on") {
  // Node 1 of the host allocates, its kernel 2 repeats the tensor, 3 uses it last.
  const auto trace = read_bytes("chakra_json", R"({"workload_graph": [
      {"Id": 1, "NodeType": 4, "runtime": 5, "is_cpu_op": true, "name": "aten::mm",
       "inputs": {"values": [[7, 7, 0, 25, 4, "cuda:1"]]},
       "outputs": {"values": [[8, 8, 0, 100, 4, "cuda:1"]]}},
      {"Id": 2, "NodeType": 4, "runtime": 10, "is_cpu_op": false, "name": "gemm", "data_deps": [1],
       "outputs": {"values": [[8, 8, 0, 100, 4, "cuda:1"]]}},
      {"Id": 3, "NodeType": 4, "runtime": 5, "is_cpu_op": true, "name": "aten::relu",
       "inputs": {"values": [[8, 8, 0, 100, 4, "cuda:1"]]}},
      {"Id": 4, "NodeType": 4, "runtime": 5, "is_cpu_op": true, "name": "aten::item"}]})");
  REQUIRE(trace.ok());
  const auto built = build_graph(*trace);
  REQUIRE_MESSAGE(built.ok(), built.error().message);
  const auto& tensors = built->graph.context().tensors;
  REQUIRE(tensors.size() == 2);
  CHECK(tensors[0].allocated_in == none<TaskId>);
  CHECK(tensors[0].freed_in == none<TaskId>);
  CHECK(built->graph.name(tensors[1].allocated_in) == "aten::mm");
  CHECK(built->graph.name(tensors[1].freed_in) == "aten::item");
  CHECK(tensors[1].device == 0);  // the only one: the lanes of such graphs are on device 0
  REQUIRE(built->memory.size() == 1);
  CHECK(built->memory[0].id == 1);
  CHECK(built->memory[0].graph_device == 0);
  CHECK(built->memory_note.find("one per storage (2)") != std::string::npos);
  CHECK(curve_of(*built).peak_bytes == 1024);
}

TEST_CASE("node tensors: why there are none is said") {
  Sketch nothing;
  nothing.call("aten::empty", {}, {});
  const LoadedTrace empty = nothing.read();
  CHECK(why_no_tensors(empty.events, *empty.nodes()) == "none of its 3 nodes records a tensor");
  Sketch host;
  host.call("aten::empty", {}, {{1, 10, "cpu"}});
  const LoadedTrace on_host = host.read();
  CHECK(why_no_tensors(on_host.events, *on_host.nodes()) ==
        "its 1 uses of tensors are all of host memory");
  CHECK(!is_memory_only(on_host));
  const auto kernels = read_bytes("chakra_json", R"({"workload_graph": [
      {"Id": 1, "NodeType": 4, "runtime": 5, "is_cpu_op": false,
       "outputs": {"values": [[8, 8, 0, 100, 4, "cuda:0"]]}}]})");
  REQUIRE(kernels.ok());
  CHECK(why_no_tensors(kernels->events, *kernels->nodes()) ==
        "its 1 uses of tensors belong to nodes that may not run on the CPU");
  const auto built = build_memory_graph(on_host.events, *on_host.nodes());
  REQUIRE(!built.ok());
  CHECK(built.error().message.find("all of host memory") != std::string::npos);
}

TEST_CASE("node tensors: deep nesting and one storage used by every node stay linear") {
  constexpr int deep = 20'000;
  Sketch sketch;
  int around = 2;
  for (int i = 0; i < deep; ++i) {
    around = sketch.call(around, "torch::autograd::AccumulateGrad", {{1, 100}}, {{1, 100}});
  }
  const BuiltGraph built = sketch.build();
  CHECK(built.graph.context().tensors.size() == 1);
}

}  // namespace
}  // namespace foretrace::trace
