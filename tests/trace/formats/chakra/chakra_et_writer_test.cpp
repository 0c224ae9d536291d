// Traces as Chakra execution traces and back: the law that nothing of the graph is lost.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "sim/graph/links.h"
#include "tests/trace/formats/write_helpers.h"
#include "trace/assemble/build_graph.h"
#include "trace/formats/chakra/chakra_fields.h"
#include "trace/formats/common/protobuf_wire.h"

namespace foretrace::trace {
namespace {

using Lanes = std::map<std::pair<bool, std::int64_t>, std::vector<std::int64_t>>;

// Durations by lane in order; host time before a task counts like a task of its own.
Lanes durations_by_lane(const TaskGraph& graph) {
  Lanes lanes;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    const Lane& lane = graph.lane(task);
    auto& list = lanes[{lane.kind == LaneKind::stream, lane.number}];
    if (lane.kind == LaneKind::host_thread && graph.segment_ns(task) > 0) {
      list.push_back(graph.segment_ns(task));
    }
    list.push_back(graph.duration_ns(task));
  }
  return lanes;
}

// Start of every task by the definition of the graph: ids are topological.
std::vector<std::int64_t> starts_of(const TaskGraph& graph) {
  std::vector<std::int64_t> start(graph.size());
  const auto time = [&](Point point) {
    const TaskId task = task_of(point);
    return start[index(task)] + (is_end(point) ? graph.duration_ns(task) : 0);
  };
  std::set<LaneId> begun;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    const bool first = begun.insert(graph.lane_id(task)).second;
    std::int64_t at = first ? graph.segment_ns(task) : 0;
    for (const Link& d : sources(graph, task)) {
      const auto part =
          static_cast<std::int64_t>(static_cast<double>(d.fraction) *
                                    static_cast<double>(graph.duration_ns(task_of(d.source))));
      const bool counts = d.late_after == no_point || time(d.source) > time(d.late_after);
      at = counts ? std::max(at, time(d.source) + d.lag_ns + part) : at;
    }
    start[i] = at;
  }
  return start;
}

// Starts of device work by stream: independent of how host time is cut into tasks.
Lanes device_starts(const TaskGraph& graph) {
  const std::vector<std::int64_t> starts = starts_of(graph);
  Lanes lanes;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (is_device(graph.kind(task))) {
      lanes[{true, graph.lane(task).number}].push_back(starts[i]);
    }
  }
  return lanes;
}

BuiltGraph built(const LoadedTrace& trace) {
  auto graph = build_graph(trace);
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  return std::move(graph).value();
}

LoadedTrace fixture() {
  auto loaded =
      read_trace(FORETRACE_SOURCE_DIR "/tests/fixtures/kineto_json/training_2024.json", {});
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
  return std::move(loaded).value();
}

void check_round_trip(const LoadedTrace& trace) {
  const BuiltGraph before = built(trace);
  const LoadedTrace again = read_bytes("chakra_et", written_as("chakra_et", trace));
  CHECK(again.report.damage.empty());
  CHECK(again.report.warnings.empty());
  const BuiltGraph after = built(again);
  CHECK(durations_by_lane(before.graph) == durations_by_lane(after.graph));
  const Lanes want = device_starts(before.graph);
  const Lanes got = device_starts(after.graph);
  REQUIRE(want.size() == got.size());
  for (const auto& entry : want) {  // clang 14 cannot capture structured bindings
    const auto& lane = entry.first;
    const auto& starts = entry.second;
    const auto found = got.find(lane);
    REQUIRE(found != got.end());
    REQUIRE(starts.size() == found->second.size());
    const auto differ = std::mismatch(starts.begin(), starts.end(), found->second.begin());
    CAPTURE(lane.second);
    CAPTURE(differ.first - starts.begin());
    CHECK(differ.first == starts.end());
    if (differ.first != starts.end()) CHECK(*differ.first == *differ.second);
  }
  CHECK(before.graph.context().steps.size() == after.graph.context().steps.size());
}

TEST_CASE("chakra_et writer: to Chakra and back keeps durations, streams and dependencies") {
  check_round_trip(fixture());
}

TEST_CASE("chakra_et writer: written once more it is the same file") {
  const std::string once = written_as("chakra_et", fixture());
  const LoadedTrace again = read_bytes("chakra_et", once);
  // Host time before a call is a node of its own now, so that numbers differ; what is read does
  // not.
  const LoadedTrace third = read_bytes("chakra_et", written_as("chakra_et", again));
  CHECK(durations_by_lane(built(again).graph) == durations_by_lane(built(third).graph));
  CHECK(device_starts(built(again).graph) == device_starts(built(third).graph));
}

// For each stream, every node after the first must depend on the one before it.
void check_stream_edges(const LoadedTrace& trace, std::size_t least_streams) {
  const LoadedTrace again = read_bytes("chakra_et", written_as("chakra_et", trace));
  const NodeGraph& nodes = *again.nodes();
  std::map<std::int64_t, NodeId> last;
  std::size_t edges = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes.place[i] != NodePlace::device) {
      continue;
    }
    const auto before = last.find(nodes.stream[i]);
    if (before != last.end()) {
      const auto first = nodes.data.begin() + nodes.data_offsets[i];
      const auto end = nodes.data.begin() + nodes.data_offsets[i + 1];
      CHECK(std::find(first, end, before->second) != end);
      ++edges;
    }
    last[nodes.stream[i]] = make_id<NodeId>(i);
  }
  CHECK(last.size() >= least_streams);
  CHECK(edges > 0);
}

TEST_CASE("chakra_et writer: order on every stream is written as dependencies") {
  check_stream_edges(fixture(), 1);
}

TEST_CASE(
    "chakra_et writer: host nodes wait for the device work that a synchronization waits for") {
  const LoadedTrace again = read_bytes("chakra_et", written_as("chakra_et", fixture()));
  const NodeGraph& nodes = *again.nodes();
  std::size_t waits = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (std::uint32_t at = nodes.data_offsets[i]; at < nodes.data_offsets[i + 1]; ++at) {
      const auto source = static_cast<std::size_t>(nodes.data[at]);
      const bool is_wait =
          nodes.place[i] == NodePlace::host && nodes.place[source] == NodePlace::device;
      waits += is_wait ? 1 : 0;
    }
  }
  CHECK(waits > 0);
}

TEST_CASE("chakra_et writer: microseconds are rounded so that every lane keeps its sum") {
  const LoadedTrace trace = fixture();
  const std::string bytes = written_as("chakra_et", trace);
  const auto source = open_memory(bytes, "t");
  formats::MessageStream stream(*source);
  std::int64_t microseconds = 0;
  while (stream.next() == formats::MessageStream::Outcome::message) {
    formats::WireReader fields(stream.message());
    while (fields.next()) {
      const bool duration = fields->number == formats::chakra::node_duration &&
                            fields->type == formats::WireType::varint;
      microseconds += duration ? fields->as_signed() : 0;
    }
  }
  std::int64_t ns = 0;
  const Lanes lanes = durations_by_lane(built(trace).graph);
  for (const auto& [lane, durations] : lanes) {
    for (const std::int64_t duration : durations) {
      ns += duration;
    }
  }
  // Each lane loses less than a microsecond at its end.
  CHECK(microseconds <= ns / 1000);
  CHECK(microseconds > ns / 1000 - static_cast<std::int64_t>(lanes.size()) - 1);
}

TEST_CASE("chakra_et writer: a sink that refuses is an error, not a short file") {
  const auto report = write_trace(fixture(), writer_called("chakra_et"), "x.et",
                                  [](std::string_view) { return false; });
  REQUIRE_FALSE(report.ok());
  CHECK(report.error().code == ErrorCode::io);
}

TEST_CASE("chakra_et writer: what cannot be simulated cannot be written") {
  LoadedTrace memory;
  memory.events.info.path = "m";
  memory.content.emplace<MemoryTimeline>();
  const auto report = write_trace(memory, writer_called("chakra_et"), "x.et",
                                  [](std::string_view) { return true; });
  CHECK_FALSE(report.ok());
}

TEST_CASE("chakra_et writer: real traces keep everything through Chakra") {
  for (const std::string& path : some_real_traces()) {
    CAPTURE(path);
    if (!std::filesystem::exists(path)) {
      MESSAGE("skipped: no real trace " << path);
      continue;
    }
    const auto trace = read_trace(path, {});
    REQUIRE_MESSAGE(trace.ok(), trace.error().message);
    check_round_trip(*trace);
    check_stream_edges(*trace, path.find("multi_stream") == std::string::npos ? 1 : 3);
  }
}

}  // namespace
}  // namespace foretrace::trace
