#include "sim/result/export/chrome_trace.h"

#include <array>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/engine/pull/pull.h"
#include "sim/result/export/chrome_text.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace {
namespace {

using nlohmann::json;

/// All events of the trace of one graph.
json events_of(const TaskGraph& graph) {
  const Timeline timeline = simulate(graph);
  const std::array<ChromeTraceView, 1> views = {{{"", graph, timeline}}};
  std::string text;
  const Status written = write_chrome_trace(views, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  REQUIRE(written.ok());
  return json::parse(text)["traceEvents"];
}

std::vector<json> having(const json& events, const std::string& phase, const std::string& name) {
  std::vector<json> found;
  for (const json& event : events) {
    if (event["ph"] == phase && event["name"] == name) {
      found.push_back(event);
    }
  }
  return found;
}

TEST_CASE("a task is a slice with its times in microseconds, a segment a slice before it") {
  const json events = events_of(test::graph("h:a(1500,250) s:k(20000)<a"));
  const auto launch = having(events, "X", "a");
  REQUIRE(launch.size() == 1);
  CHECK(launch[0]["ts"] == 0.25);
  CHECK(launch[0]["dur"] == 1.5);
  const auto segment = having(events, "X", "host");
  REQUIRE(segment.size() == 1);
  CHECK(segment[0]["ts"] == 0.0);
  CHECK(segment[0]["dur"] == 0.25);
  CHECK(having(events, "X", "k")[0]["ts"] == 1.75);  // end of a
}

TEST_CASE("threads and streams are tracks of a host and a device process") {
  const json events = events_of(test::graph("h:a(1) s:k(2)<a t:b(1)"));
  const auto processes = having(events, "M", "process_name");
  REQUIRE(processes.size() == 2);
  CHECK(processes[0]["args"]["name"] == "rank 0 host");
  CHECK(processes[1]["args"]["name"] == "rank 0 device 0");
  CHECK(having(events, "X", "a")[0]["pid"] == having(events, "X", "b")[0]["pid"]);
  CHECK(having(events, "X", "a")[0]["tid"] != having(events, "X", "b")[0]["tid"]);
  CHECK(having(events, "X", "a")[0]["pid"] != having(events, "X", "k")[0]["pid"]);
}

TEST_CASE("a launch is an arrow from the call to the kernel") {
  const json events = events_of(test::graph("h:a(1000) s:k(2000)<a"));
  const auto tails = having(events, "s", "launch");
  const auto heads = having(events, "f", "launch");
  REQUIRE(tails.size() == 1);
  REQUIRE(heads.size() == 1);
  CHECK(tails[0]["id"] == heads[0]["id"]);
  CHECK(tails[0]["ts"] == 0.0);  // the start of the call's slice
  CHECK(heads[0]["ts"] == 1.0);  // the start of the kernel
  CHECK(heads[0]["bp"] == "e");
}

TEST_CASE("order on a lane needs no arrow") {
  const json events = events_of(test::graph("h:a(1) h:b(1) s:k(2)<a s:l(2)<b"));
  for (const json& event : events) {
    if (event["ph"] == "s") {
      CHECK(event["name"] == "launch");
    }
  }
}

TEST_CASE("begin and finish of a blocking call are one slice that shows the wait") {
  GraphBuilder builder;
  const LaneId host = builder.add_lane({.kind = LaneKind::host_thread, .name = "main"});
  const LaneId stream = builder.add_lane({.kind = LaneKind::stream, .device = 0, .number = 7});
  const auto work = [&](std::string_view name, TaskKind kind, TaskPart part) {
    Work added;
    added.name = builder.add_name(name);
    added.kind = kind;
    added.part = part;
    return builder.add_work(added);
  };
  const auto task = [&](LaneId lane, WorkId id, TaskKind kind, std::int64_t duration) {
    TaskSpec spec;
    spec.lane = lane;
    spec.work = id;
    spec.kind = kind;
    spec.duration_ns = duration;
    return builder.add_task(spec);
  };
  const TaskId launch =
      task(host, work("launch", TaskKind::launch, TaskPart::whole), TaskKind::launch, 1000);
  const TaskId kernel =
      task(stream, work("k", TaskKind::kernel, TaskPart::whole), TaskKind::kernel, 50000);
  const auto sync = TaskKind::synchronization;
  task(host, work("sync", sync, TaskPart::begin), sync, 2000);
  const TaskId finish = task(host, work("sync", sync, TaskPart::finish), sync, 0);
  builder.add_dependency(
      {.source = end_of(launch), .task = kernel, .kind = DependencyKind::launch});
  builder.add_dependency({.source = end_of(kernel),
                          .task = finish,
                          .kind = DependencyKind::synchronization,
                          .lag_ns = 5000});
  const json events = events_of(*std::move(builder).build());
  const auto slices = having(events, "X", "sync");
  REQUIRE(slices.size() == 1);
  CHECK(slices[0]["ts"] == 1.0);
  CHECK(slices[0]["dur"] == 55.0);                // kernel ends at 51, + 5 latency = 56, less 1
  CHECK(slices[0]["args"]["waited_us"] == 53.0);  // 55 less its own 2
  // The arrow's head lies in the merged slice and not before its tail.
  const auto heads = having(events, "f", "synchronization");
  const auto tails = having(events, "s", "synchronization");
  REQUIRE(heads.size() == 1);
  REQUIRE(tails.size() == 1);
  CHECK(heads[0]["ts"] >= tails[0]["ts"]);
  CHECK(heads[0]["ts"] >= slices[0]["ts"]);
}

TEST_CASE("two views lie in processes of their own with their labels") {
  const TaskGraph graph = test::graph("h:a(1) s:k(2)<a");
  const Timeline timeline = simulate(graph);
  const std::array<ChromeTraceView, 2> views = {
      {{"baseline", graph, timeline}, {"predicted", graph, timeline}}};
  std::string text;
  REQUIRE(write_chrome_trace(views, [&](std::string_view piece) {
            text += piece;
            return true;
          }).ok());
  const json events = json::parse(text)["traceEvents"];
  std::map<int, std::string> names;
  for (const json& process : having(events, "M", "process_name")) {
    names[process["pid"].get<int>()] = process["args"]["name"].get<std::string>();
  }
  CHECK(names.size() == 4);
  CHECK(having(events, "s", "launch").size() == 2);
  CHECK(having(events, "s", "launch")[0]["id"] != having(events, "s", "launch")[1]["id"]);
}

TEST_CASE("a sink that refuses ends the writing with an error") {
  const TaskGraph graph = test::graph("h:a(1)");
  const Timeline timeline = simulate(graph);
  const std::array<ChromeTraceView, 1> views = {{{"", graph, timeline}}};
  const Status written = write_chrome_trace(views, [](std::string_view) { return false; });
  REQUIRE_FALSE(written.ok());
  CHECK(written.error().code == ErrorCode::io);
}

TEST_CASE("nanoseconds are written as microseconds without loss") {
  CHECK(fmt::format("{}", Microseconds{1'234'567}) == "1234.567");
  CHECK(fmt::format("{}", Microseconds{-5}) == "-0.005");
}

TEST_CASE("a counter becomes events on its device's process, the last value of a time alone") {
  const TaskGraph graph = test::graph("h:a(10) s:k(20)<a");
  const Timeline timeline = simulate(graph);
  ChromeCounter counter{.name = "allocated bytes", .rank = 0, .device = 0};
  counter.samples = {{0, 100}, {1500, 300}, {1500, 200}, {4000, 0}};
  ChromeCounter elsewhere{.name = "not drawn", .rank = 5, .device = 0};
  elsewhere.samples = {{0, 1}};
  const std::array<ChromeTraceView, 1> views = {{{"", graph, timeline, {counter, elsewhere}}}};
  std::string text;
  REQUIRE(write_chrome_trace(views, [&](std::string_view piece) {
            text += piece;
            return true;
          }).ok());
  const json events = json::parse(text)["traceEvents"];
  const auto drawn = having(events, "C", "allocated bytes");
  REQUIRE(drawn.size() == 3);
  CHECK(drawn[1]["ts"] == 1.5);
  CHECK(drawn[1]["args"]["value"] == 200);
  CHECK(drawn[1]["pid"] == having(events, "X", "k")[0]["pid"]);
  CHECK(having(events, "C", "not drawn").empty());
}

TEST_CASE("instants lie on a track of their own of their device") {
  const TaskGraph graph = test::graph("h:a(10) s:k(20)<a");
  const Timeline timeline = simulate(graph);
  const ChromeInstants moves{
      .title = "memory policy", .rank = 0, .device = 0, .list = {{"evict mm", 1500, 64}}};
  const ChromeInstants elsewhere{
      .title = "not drawn", .rank = 5, .device = 0, .list = {{"evict mm", 1500, 64}}};
  const std::array<ChromeTraceView, 1> views = {{{"", graph, timeline, {}, {moves, elsewhere}}}};
  std::string text;
  REQUIRE(write_chrome_trace(views, [&](std::string_view piece) {
            text += piece;
            return true;
          }).ok());
  const json events = json::parse(text)["traceEvents"];
  const auto drawn = having(events, "i", "evict mm");
  REQUIRE(drawn.size() == 1);
  CHECK(drawn[0]["ts"] == 1.5);
  CHECK(drawn[0]["args"]["bytes"] == 64);
  const json kernel = having(events, "X", "k")[0];
  CHECK(drawn[0]["pid"] == kernel["pid"]);
  CHECK(drawn[0]["tid"] != kernel["tid"]);
  bool is_named = false;
  for (const json& track : having(events, "M", "thread_name")) {
    is_named = is_named || (track["tid"] == drawn[0]["tid"] && track["pid"] == drawn[0]["pid"] &&
                            track["args"]["name"] == "memory policy");
  }
  CHECK(is_named);
}

}  // namespace
}  // namespace foretrace
