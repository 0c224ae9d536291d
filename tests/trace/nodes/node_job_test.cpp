// Ranks whose traces are graphs of nodes, joined by their communication.
#include "trace/nodes/node_job.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "sim/result/summary.h"
#include "tests/trace/formats/node_helpers.h"

namespace foretrace::trace {
namespace {

constexpr std::int64_t us = 1000;

std::string compute(int id, int microseconds, const std::string& after = "") {
  return R"({"Id": )" + std::to_string(id) + R"(, "Name": "compute", "NodeType": 4, "runtime": )" +
         std::to_string(microseconds) + R"(, "is_cpu_op": false, "data_deps": [)" + after + "]}";
}

std::string collective(int id, int type, std::int64_t bytes, const std::string& group,
                       const std::string& after = "", const std::string& more = "") {
  return R"({"Id": )" + std::to_string(id) + R"(, "Name": "meet", "NodeType": 7, "comm_type": )" +
         std::to_string(type) + R"(, "comm_size": )" + std::to_string(bytes) +
         R"(, "is_cpu_op": false, "pg_name": ")" + group + R"(", "data_deps": [)" + after + "]" +
         more + "}";
}

std::string message(int id, bool sends, int other, int bytes, const std::string& after = "",
                    int tag = 0) {
  return R"({"Id": )" + std::to_string(id) + R"(, "Name": "talk", "NodeType": )" +
         (sends ? "5" : "6") + R"(, "is_cpu_op": false, "comm_size": )" + std::to_string(bytes) +
         (sends ? R"(, "comm_dst": )" : R"(, "comm_src": )") + std::to_string(other) +
         R"(, "comm_tag": )" + std::to_string(tag) + R"(, "data_deps": [)" + after + "]}";
}

/// Nodes of each rank; the ranks are 0, 1, ...
struct Job {
  std::vector<LoadedTrace> traces;
  std::vector<RankNodes> ranks;
};

Job job_of(const std::vector<std::vector<std::string>>& ranks) {
  Job job;
  for (const std::vector<std::string>& nodes : ranks) {
    std::string text;
    for (const std::string& node : nodes) text += (text.empty() ? "" : ",") + node;
    auto read = read_bytes("chakra_json", R"({"workload_graph": [)" + text + "]}");
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    job.traces.push_back(std::move(*read));
  }
  for (std::size_t r = 0; r < job.traces.size(); ++r) {
    job.traces[r].events.info.path = "rank" + std::to_string(r);
    job.ranks.push_back(
        {static_cast<std::int32_t>(r), &job.traces[r].events, job.traces[r].nodes()});
  }
  return job;
}

/// 1 us per 1000 bytes, 7 us more for each rank.
Result<ExchangeTime> price(const NodeExchange& exchange) {
  const auto ranks = static_cast<std::int64_t>(exchange.ranks.size());
  return ExchangeTime{exchange.bytes + 7 * us * ranks, Provenance::table};
}

Result<NodeJob> built(const Job& job, const GroupList& listed = {}) {
  return build_node_job(
      job.ranks, NodeGroups(job.ranks, listed, listed.empty() ? "" : "groups.json"), {}, price);
}

std::int64_t span(const Result<NodeJob>& job) {
  REQUIRE_MESSAGE(job.ok(), job.error().message);
  return simulate(job->graph).span_ns;
}

std::string refusal(const Job& job, const GroupList& listed = {}) {
  const auto result = built(job, listed);
  REQUIRE_FALSE(result.ok());
  return result.error().message;
}

const GroupList both = {{"g", {0, 1}}};

/// What rank 1 of 2 says in a node of PyTorch's, in which group 7 has these ranks.
Result<GroupList> groups_of(const std::string& ranks) {
  std::string init = R"({"id": "1", "name": "## process_group:init ##", "type": "COMP_NODE",
    "inputs": {"values": "['[{\"pg_name\": \"0\", \"ranks\": [], \"group_size\": 2},
    {\"pg_name\": \"7\", \"ranks\": )" +
                     ranks + R"(, \"group_size\": 1}]']", "shapes": "[[]]",
    "types": "['String']"}, "attr": [{"name": "is_cpu_op", "int32Val": 1}]})";
  std::replace(init.begin(), init.end(), '\n', ' ');
  auto read = read_bytes("chakra_json", R"({"schema": "x"})"
                                        "\n" +
                                            init);
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  const std::vector<std::int32_t> all = {0, 1};
  return recorded_groups({1, &read->events, read->nodes()}, all);
}

}  // namespace

TEST_CASE("node job: a collective begins with the last rank and takes what its price says") {
  // Rank 1 is there after 30 us; 5000 bytes among 2 take 5 + 14 us; then 4 us more.
  const Job job = job_of({{compute(1, 10), collective(2, 0, 5000, "g", "1"), compute(3, 4, "2")},
                          {compute(1, 30), collective(2, 0, 5000, "g", "1"), compute(3, 4, "2")}});
  const auto joined = built(job, both);
  CHECK(span(joined) == (30 + 19 + 4) * us);
  const Timeline timeline = simulate(joined->graph);
  const Breakdown rank0 =
      summarize(joined->graph, timeline, {0, timeline.span_ns, 0, no_device, -1}).breakdown;
  CHECK(rank0.communication_waiting_ns == 20 * us);
  CHECK(rank0.communication_exposed_ns == 19 * us);
  CHECK(rank0.compute_ns == 14 * us);
}

TEST_CASE("node job: what runs beside a collective does not wait for it") {
  // Each rank computes 40 us beside the first collective, which takes 14 + 6 us, and another group
  // of the same ranks does not wait for it either.
  const std::vector<std::string> nodes = {compute(1, 10), collective(2, 0, 6000, "g", "1"),
                                          collective(3, 0, 2000, "h", "1"), compute(4, 40, "1"),
                                          compute(5, 1, "2,3,4")};
  CHECK(span(built(job_of({nodes, nodes}), {{"g", {0, 1}}, {"h", {0, 1}}})) == 51 * us);
}

TEST_CASE("node job: of an all-gather nodes tell what one rank gives") {
  const std::vector<std::string> nodes = {collective(1, 2, 3000, "g")};
  CHECK(span(built(job_of({nodes, nodes, nodes}), {{"g", {0, 1, 2}}})) == (9 + 21) * us);
}

TEST_CASE("node job: a message leaves when its sender comes to it, and its receiver waits") {
  // 20 us, then 1000 bytes: 1 + 14 us; rank 1 has done 5 us by then and does 6 us more. Messages
  // in both directions do not wait for each other.
  const Job job = job_of({{compute(1, 20), message(2, true, 1, 1000, "1"),
                           message(3, false, 1, 2000, "1"), compute(4, 2, "3")},
                          {compute(1, 5), message(2, true, 0, 2000, "1"),
                           message(3, false, 0, 1000, "1"), compute(4, 6, "3")}});
  CHECK(span(built(job)) == (20 + 15 + 6) * us);
}

TEST_CASE("node job: stages that send ahead of what they receive do not lock each other up") {
  // As 1F1B has it: stage 0 sends twice before it takes the first gradient.
  const Job job = job_of(
      {{compute(1, 5), message(2, true, 1, 1000, "1", 1), compute(3, 5, "1"),
        message(4, true, 1, 1000, "3", 2), message(5, false, 1, 1000, "3", 3), compute(6, 5, "5")},
       {message(1, false, 0, 1000, "", 1), compute(2, 10, "1"), message(3, true, 0, 1000, "2", 3),
        message(4, false, 0, 1000, "2", 2), compute(5, 10, "4")}});
  // Stage 1: 5 + 15, then two passes; stage 0 has its gradient at 30 + 15.
  CHECK(span(built(job)) == (30 + 15 + 5) * us);
}

TEST_CASE("node job: groups come from the list, else from who names them") {
  const std::vector<std::string> with = {compute(1, 10), collective(2, 0, 5000, "g", "1")};
  const std::vector<std::string> without = {compute(1, 10)};
  CHECK(span(built(job_of({with, without, with}))) == (10 + 19) * us);
  CHECK(refusal(job_of({with, with}), {{"h", {0, 1}}}) ==
        "rank0: node 2 'meet': group 'g' is not listed in groups.json, expected one of h");
  CHECK(refusal(job_of({with, with}), {{"g", {0, 1, 5}}}) ==
        "rank0: node 2 'meet': group 'g' has rank 5, which has no trace, expected one of every "
        "rank of the group (2 here: 0 to 1)");
  CHECK(refusal(job_of({with, with, with}), both) ==
        "rank2: node 2 'meet': group 'g' has ranks 0, 1, expected rank 2 among them");
}

TEST_CASE("node job: PyTorch's node lists groups, and one without ranks has all") {
  const auto groups = groups_of("[1]");
  REQUIRE_MESSAGE(groups.ok(), groups.error().message);
  REQUIRE(groups->size() == 2);
  CHECK(groups->at("0") == std::vector<std::int32_t>{0, 1});
  CHECK(groups->at("7") == std::vector<std::int32_t>{1});
}

TEST_CASE("node job: a list in the trace names ranks, each once") {
  const std::string where = "t: node 1 '## process_group:init ##': group '7': ";
  CHECK(groups_of("[1, 0.5]").error().message == where + "got the number 0.5, expected a rank");
  CHECK(groups_of("[1, null]").error().message == where + "got null, expected a rank");
  CHECK(groups_of("[1, -1]").error().message == where + "got the number -1, expected a rank");
  CHECK(groups_of("[1, 0, 1]").error().message ==
        where + "got rank 1 twice, expected each rank once");
}

TEST_CASE("node job: what exchanges take and what files say of them is of the same nodes") {
  // A kernel whose name says NCCL communicates, but not with a rank that is here.
  const std::string other =
      R"({"Id": 9, "Name": "ncclKernel", "NodeType": 4, "runtime": 70, "is_cpu_op": false})";
  const std::string runtime = R"(, "runtime": 50)";
  const std::vector<std::string> nodes = {other, collective(2, 0, 5000, "g", "", runtime)};
  const auto job = built(job_of({nodes, nodes}), both);
  REQUIRE_MESSAGE(job.ok(), job.error().message);
  CHECK(job->transfer_ns == 2 * 19 * us);
  CHECK(job->recorded_transfer_ns == 2 * 50 * us);
}

TEST_CASE("node job: what one file does not say is not compared") {
  const std::vector<std::string> silent = {collective(2, 0, 5000, "g")};
  const std::vector<std::string> timed = {collective(2, 0, 5000, "g", "", R"(, "runtime": 50)")};
  const auto job = built(job_of({silent, timed}), both);
  REQUIRE_MESSAGE(job.ok(), job.error().message);
  CHECK(job->transfer_ns == 2 * 19 * us);
  CHECK(job->recorded_transfer_ns == 0);
}

TEST_CASE("node job: times and sizes beyond 64 bits are refused") {
  // 2e18 ns each.
  const std::vector<std::string> nodes = {
      collective(1, 0, 10, "g", "", R"(, "runtime": 2000000000000000)")};
  CHECK(refusal(job_of({nodes, nodes, nodes}), {{"g", {0, 1, 2}}}) ==
        "rank2: node 1 'meet': with it all ranks' communication takes 6e+18 ns, expected at most "
        "4e+18");
  const std::vector<std::string> gather = {collective(1, 2, 10, "g")};
  Job job = job_of({gather, gather});
  NodeGraph large = *job.traces[0].nodes();
  large.communications[0].bytes = std::int64_t{1} << 62;
  for (RankNodes& rank : job.ranks) rank.nodes = &large;
  CHECK(refusal(job, both) ==
        "rank0: node 1 'meet': an all_gather of 4611686018427387904 bytes from each of 2 ranks, "
        "expected less than 2^63 in all");
}

TEST_CASE("node job: ranks that disagree are refused") {
  const auto with = [](int type, int bytes) {
    return std::vector<std::string>{compute(1, 10), collective(2, type, bytes, "g", "1")};
  };
  CHECK(refusal(job_of({with(0, 5000), with(7, 5000)}), both) ==
        "rank1: node 2 'meet': the 1st collective of group 'g' is reduce_scatter of 5000 bytes, "
        "expected all_reduce of 5000 bytes as on rank 0");
  CHECK(refusal(job_of({with(0, 5000), with(0, 4000)}), both) ==
        "rank1: node 2 'meet': the 1st collective of group 'g' is all_reduce of 4000 bytes, "
        "expected all_reduce of 5000 bytes as on rank 0");
  CHECK(refusal(job_of({with(0, 5000), {compute(1, 10)}}), both) ==
        "rank0: node 2 'meet': all_reduce of 5000 bytes of group 'g': rank 1 has no such node, "
        "expected one on every participating rank");
  CHECK(refusal(job_of({{message(1, true, 1, 10)}, {compute(1, 1)}})) ==
        "rank0: node 1 'talk': send of 10 bytes: rank 1 has no such node, expected one on every "
        "participating rank");
  CHECK(refusal(job_of({{message(1, true, 0, 10)}, {compute(1, 1)}})) ==
        "rank0: node 1 'talk': a message of rank 0 to itself, expected another rank");
  CHECK(refusal(job_of({{message(1, true, 1, 10)}, {message(1, false, 0, 11)}})) ==
        "rank1: node 1 'talk': a message of 11 bytes, expected 10 as at its other end (rank0: node "
        "1 'talk')");
}

TEST_CASE("node job: ranks that wait for each other are a cycle") {
  // Each meets the other in g before h, or h before g.
  const Job job = job_of({{collective(1, 0, 10, "g"), collective(2, 0, 10, "h", "1")},
                          {collective(1, 0, 10, "h"), collective(2, 0, 10, "g", "1")}});
  CHECK(refusal(job, {{"g", {0, 1}}, {"h", {0, 1}}}) ==
        "dependency cycle: rank0: node 2 'meet' -> rank1: node 1 'meet' -> rank1: node 2 'meet' -> "
        "rank0: node 1 'meet' -> rank0: node 2 'meet'");
}

TEST_CASE("node job: communication that is only on the host is told, not lost") {
  const auto on_host = [](std::string node) {
    const std::string device = R"("is_cpu_op": false)";
    return node.replace(node.find(device), device.size(), R"("is_cpu_op": true)");
  };
  const std::string host = on_host(collective(2, 0, 5000, "g", "1"));
  const std::string device = collective(3, 0, 5000, "g", "2");
  const auto lost = built(job_of({{compute(1, 10), host}, {compute(1, 10), host}}), both);
  REQUIRE_MESSAGE(lost.ok(), lost.error().message);
  CHECK(lost->exchanges == 0);
  REQUIRE(lost->warnings.size() >= 1);
  CHECK(lost->warnings.back() ==
        "2 communication nodes are on the CPU (is_cpu_op is true) and none of the kind on the GPU: "
        "it keeps its recorded time, and no rank waits for it; the first is rank0: node 2 'meet'");
  // PyTorch's node of a collective launches the one on the device, which is there.
  const std::vector<std::string> whole = {compute(1, 10), host, device};
  const auto launched = built(job_of({whole, whole}), both);
  REQUIRE_MESSAGE(launched.ok(), launched.error().message);
  CHECK(launched->exchanges == 1);
  for (const std::string& warning : launched->warnings) {
    CHECK(warning.find("is_cpu_op") == std::string::npos);
  }
}

TEST_CASE("node job: a size that no message has is named as that") {
  CHECK(refusal(job_of({{collective(1, 0, -5, "g")}, {collective(1, 0, -5, "g")}}), both) ==
        "rank0: node 1 'meet': got no comm_size, or one that no message has, expected bytes from 0 "
        "to 2^50");
}

}  // namespace foretrace::trace
