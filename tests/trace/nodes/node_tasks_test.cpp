// Graphs of nodes as tasks; times are simulated by going over the tasks in order.
#include "trace/nodes/node_tasks.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/graph/links.h"
#include "tests/trace/formats/node_helpers.h"
#include "trace/assemble/build_graph.h"

namespace foretrace::trace {
namespace {

// Ends of all tasks: ids are topological.
std::int64_t makespan(const TaskGraph& graph) {
  std::vector<std::int64_t> end(graph.size());
  std::int64_t last = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    std::int64_t start = 0;
    for (const Link& dependency : sources(graph, task)) {
      start = std::max(start, end[index(task_of(dependency.source))] + dependency.lag_ns);
    }
    end[i] = start + graph.duration_ns(task);
    last = std::max(last, end[i]);
  }
  return last;
}

std::string graph_of(const std::string& nodes) { return R"({"workload_graph": [)" + nodes + "]}"; }

Result<BuiltGraph> built(const std::string& nodes, const NodeCosts& costs = {}) {
  auto trace = read_bytes("chakra_json", graph_of(nodes));
  REQUIRE(trace.ok());
  BuildOptions options;
  options.node_costs = costs;
  return build_graph(*trace, options);
}

TEST_CASE("nodes: explicit dependencies and streams decide when a node runs") {
  const LoadedTrace trace = read_file_of("chakra_et", "two_streams.et");
  const auto graph = build_graph(trace);
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  REQUIRE(graph->graph.size() == 6);
  // add 10, kernel on stream 7 until 50; all-reduce on stream 20 waits for it: 50 + 100 = 150.
  // The copy follows the kernel on stream 7: 50 + 20 = 70.
  CHECK(makespan(graph->graph) == 150'000);
  REQUIRE(graph->warnings.size() == 1);  // node 1 has no duration: told, not silent
  CHECK(graph->warnings[0].find("1 of 6 nodes") != std::string::npos);
}

TEST_CASE("nodes: without recorded streams a device does one computation at a time") {
  // Both kernels need only the host's 1 us: they share the computing stream, 1 + 10 + 10 = 21.
  const auto graph = built(R"({"Id": 1, "NodeType": 4, "runtime": 1, "is_cpu_op": true},
      {"Id": 2, "NodeType": 4, "runtime": 10, "is_cpu_op": false, "data_deps": [1]},
      {"Id": 3, "NodeType": 4, "runtime": 10, "is_cpu_op": false, "data_deps": [1]})");
  REQUIRE(graph.ok());
  CHECK(makespan(graph->graph) == 21'000);
}

TEST_CASE("nodes: communication runs beside computation") {
  const auto graph = built(R"({"Id": 1, "NodeType": 4, "runtime": 1, "is_cpu_op": true},
      {"Id": 2, "NodeType": 7, "runtime": 10, "is_cpu_op": false, "data_deps": [1]},
      {"Id": 3, "NodeType": 4, "runtime": 10, "is_cpu_op": false, "data_deps": [1]})");
  REQUIRE(graph.ok());
  CHECK(makespan(graph->graph) == 11'000);
}

TEST_CASE("nodes: communication keeps its kind, bytes and group") {
  const auto graph = built(R"({"Id": 1, "NodeType": 7, "runtime": 9, "is_cpu_op": false,
       "comm_type": 2, "comm_size": 4096, "pg_name": "3", "pg_size": 8, "tensor_size": 64},
      {"Id": 2, "NodeType": 5, "runtime": 8, "is_cpu_op": false, "comm_size": 512, "data_deps": [1]},
      {"Id": 3, "NodeType": 7, "runtime": 7, "is_cpu_op": false, "comm_type": 0, "comm_size": 2048,
       "pg_name": "3", "data_deps": [2]},
      {"Id": 4, "NodeType": 7, "runtime": 6, "is_cpu_op": false, "comm_type": 2, "comm_size": 1024,
       "data_deps": [3]})");
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  const TaskGraph& tasks = graph->graph;
  REQUIRE(tasks.size() == 4);
  const Work& gather = tasks.work(make_id<TaskId>(0));
  CHECK(gather.collective == CollectiveKind::all_gather);
  CHECK(gather.bytes == 8 * 4096);  // a node tells what one rank gives
  REQUIRE(tasks.context().communicators.size() == 1);
  CHECK(tasks.context().communicators[0].name == "3");
  CHECK(gather.communicator == 0);
  const Work& sent = tasks.work(make_id<TaskId>(1));
  CHECK(sent.collective == CollectiveKind::send);
  CHECK(sent.bytes == 512);
  CHECK(sent.communicator == no_communicator);
  CHECK(tasks.work(make_id<TaskId>(2)).collective == CollectiveKind::all_reduce);
  CHECK(tasks.work(make_id<TaskId>(2)).bytes == 2048);
  CHECK(tasks.work(make_id<TaskId>(3)).bytes == -1);  // how many give so much is not known
}

TEST_CASE("nodes: communication without a duration is an error that names it and the rate") {
  const std::string nodes =
      R"({"Id": 1, "NodeType": 4, "runtime": 1, "is_cpu_op": true},
         {"Id": 2, "Name": "all", "NodeType": 7, "is_cpu_op": false, "comm_size": 1000})";
  const auto graph = built(nodes);
  REQUIRE_FALSE(graph.ok());
  CHECK(graph.error().code == ErrorCode::missing_cost);
  CHECK(graph.error().message ==
        "t: node 2 'all': no duration is recorded for 1000 bytes; state the network bandwidth");
  // 1000 bytes at 1 GB/s take 1 us.
  const auto priced = built(nodes, {.network_bytes_per_second = 1e9});
  REQUIRE(priced.ok());
  CHECK(makespan(priced->graph) == 1'000);
  CHECK(priced->graph.provenance(TaskId{1}) == Provenance::assumed);
}

TEST_CASE("nodes: work without durations costs the longer of computing and moving") {
  const std::string nodes =
      R"({"Id": 1, "NodeType": 4, "is_cpu_op": false, "num_ops": 3000, "tensor_size": 1000})";
  const auto graph = built(nodes);
  REQUIRE_FALSE(graph.ok());
  CHECK(graph.error().message.find("state the compute rate") != std::string::npos);
  // 3000 operations at 1e9/s: 3 us; 1000 bytes at 1e9/s: 1 us.
  const auto priced = built(nodes, {.operations_per_second = 1e9, .memory_bytes_per_second = 1e9});
  REQUIRE(priced.ok());
  CHECK(makespan(priced->graph) == 3'000);
  CHECK(priced->graph.provenance(TaskId{0}) == Provenance::roofline);
}

TEST_CASE("nodes: a cycle is an error that names its nodes") {
  const auto graph = built(R"({"Id": 1, "Name": "a", "NodeType": 4, "runtime": 1, "data_deps": [3]},
      {"Id": 2, "Name": "b", "NodeType": 4, "runtime": 1, "data_deps": [1]},
      {"Id": 3, "Name": "c", "NodeType": 4, "runtime": 1, "data_deps": [2]},
      {"Id": 4, "Name": "d", "NodeType": 4, "runtime": 1})");
  REQUIRE_FALSE(graph.ok());
  CHECK(graph.error().code == ErrorCode::cyclic_graph);
  CHECK(graph.error().message.find("3 of 4 nodes wait for each other") != std::string::npos);
  for (const char* name : {"node 1 'a'", "node 2 'b'", "node 3 'c'"}) {
    CHECK(graph.error().message.find(name) != std::string::npos);
  }
  const auto self = built(R"({"Id": 1, "NodeType": 4, "runtime": 1, "data_deps": [1]})");
  CHECK_FALSE(self.ok());
}

}  // namespace
}  // namespace foretrace::trace
