#include "sim/engine/path/critical_path.h"

#include <numeric>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "tests/sim/engine/random_graph.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace {
namespace {

std::int64_t sum_of(const CriticalPath& path) {
  return std::accumulate(
      path.pieces.begin(), path.pieces.end(), std::int64_t{0},
      [](std::int64_t sum, const PathPiece& piece) { return sum + piece.duration_ns; });
}

std::string text_of(const TaskGraph& graph, const CriticalPath& path) {
  std::string text;
  for (const PathPiece& piece : path.pieces) {
    text += (text.empty() ? "" : " ") + std::string(to_string(piece.part)) + ":" +
            std::string(graph.name(piece.task)) + "=" + std::to_string(piece.duration_ns);
  }
  return text;
}

TEST_CASE("critical_path: names host time, launch latency, kernels, gaps and completion") {
  // launch 10..14, kernel k 14+6=20..120, m behind it 3 later 123..173, finish 5 after it at 178.
  const TaskGraph graph =
      test::graph("h:l(4,10) s:k(100)<l+6 h:l2(4) s:m(50,3)<l2+6 h:wait(2,1)~s+5");
  const Timeline timeline = simulate(graph);
  const CriticalPath path = critical_path(graph, timeline);
  CHECK(text_of(graph, path) ==
        "segment:l=10 duration:l=4 lag:k=6 duration:k=100 segment:m=3 duration:m=50 lag:wait=5 "
        "duration:wait=2");
  CHECK(path.total_ns == 180);
  CHECK(sum_of(path) == 180);
  CHECK(path.shares.host_ns == 16);  // 10 + 4 + 2
  CHECK(path.shares.device_ns == 150);
  CHECK(path.shares.gap_ns == 3);
  CHECK(path.shares.latency_ns == 11);  // 6 + 5
  CHECK(path.shares.cause_ns[static_cast<std::size_t>(DependencyKind::launch)] == 6);
  CHECK(path.shares.lane_ns == std::vector<std::int64_t>{16, 153});
  CHECK(path.shares.provenance_ns[0] == 180);
}

TEST_CASE("critical_path: a negative lag counts only the part of the source that held others") {
  // b starts 30 before the end of a: 70 of a's 100, then b.
  const TaskGraph graph = test::graph("s1:a(100) s2:b(50)<a-30");
  const CriticalPath path = critical_path(graph, simulate(graph));
  CHECK(text_of(graph, path) == "duration:a=70 duration:b=50");
  CHECK(path.total_ns == 120);
}

TEST_CASE("critical_path: a capacity dependency shows the share of the source and the lag") {
  // b starts at a's start + half of 100 + 7.
  const TaskGraph graph = test::graph("s1:a(100,2) s2:b(80)<^a*0.5+7");
  const CriticalPath path = critical_path(graph, simulate(graph));
  CHECK(text_of(graph, path) == "segment:a=2 duration:a=50 lag:b=7 duration:b=80");
  CHECK(path.total_ns == 139);
}

TEST_CASE("critical_path: of equal dependencies the lane binds, of equal ends the smallest id") {
  const TaskGraph graph = test::graph("h1:a(10) h2:b(10) h1:c(5)<b h2:d(5)");
  const CriticalPath path = critical_path(graph, simulate(graph));
  CHECK(text_of(graph, path) == "duration:a=10 duration:c=5");
}

TEST_CASE("critical_path: a window ends with its task and is cut at its begin") {
  const TaskGraph graph = test::graph("h:a(10) h:b(20) h:c(30)");
  const CriticalPath path =
      critical_path(graph, simulate(graph), {.last = test::task(graph, "b"), .begin_ns = 4});
  CHECK(text_of(graph, path) == "duration:a=6 duration:b=20");
  CHECK(path.total_ns == 26);
  CHECK(sum_of(path) == 26);
}

TEST_CASE("critical_path: a later start than dependencies ask for is unexplained") {
  const TaskGraph graph = test::graph("s1:a(10) s2:b(5)<a");
  Timeline timeline = simulate(graph);
  timeline.points[2] += 8;  // b, as if a policy had held it back
  timeline.points[3] += 8;
  timeline.span_ns += 8;
  const CriticalPath path = critical_path(graph, timeline);
  CHECK(text_of(graph, path) == "duration:a=10 unexplained:b=8 duration:b=5");
  CHECK(path.shares.unexplained_ns == 8);
  CHECK(sum_of(path) == 23);
}

TEST_CASE("critical_path: an empty graph has an empty path") {
  CHECK(critical_path(TaskGraph(), Timeline()).pieces.empty());
}

TEST_CASE("critical_path: on random graphs the pieces add up to the span and follow each other") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const TaskGraph graph = test::random_graph(
        {.tasks = 400, .lanes = 6, .seed = seed, .overflow_share = 0.2, .negative_share = 0.3});
    const Timeline timeline = simulate(graph);
    const CriticalPath path = critical_path(graph, timeline);
    CHECK(path.total_ns == timeline.span_ns);
    CHECK(sum_of(path) == timeline.span_ns);
    CHECK(path.shares.unexplained_ns == 0);
    std::int64_t at = 0;
    for (const PathPiece& piece : path.pieces) {
      CHECK(piece.begin_ns == at);
      at += piece.duration_ns;
    }
    const PathShares& shares = path.shares;
    CHECK(shares.host_ns + shares.device_ns + shares.network_ns + shares.gap_ns +
              shares.latency_ns ==
          path.total_ns);
  }
}

TEST_CASE("path_gains: what could be saved is simulated, not read off the path") {
  // Two streams of equal length: making either free saves only what the other does not hold.
  const TaskGraph graph = test::graph("s1:a(100) s2:b(90) h:end(1)<a<b");
  const CriticalPath path = critical_path(graph, simulate(graph));
  const auto gains = path_gains(graph, path);
  REQUIRE(gains.size() == 2);
  CHECK(gains[0].label == "a");
  CHECK(gains[0].on_path_ns == 100);
  CHECK(gains[0].gain_ns == 10);  // then b holds the end
  CHECK(gains[0].tasks == 1);
  CHECK(gains[1].label == "end");
  CHECK(gains[1].gain_ns == 1);
}

TEST_CASE("path_gains: host time and latencies are groups too") {
  const TaskGraph graph = test::graph("h:l(4,50) s:k(100)<l+6 h:wait(2,1)~s+5");
  const CriticalPath path = critical_path(graph, simulate(graph));
  const auto gains = path_gains(graph, path, {.grouping = PathGrouping::kind});
  const auto gain_of = [&gains](std::string_view label) {
    for (const PathGroup& group : gains) {
      if (group.label == label) {
        return group.gain_ns;
      }
    }
    FAIL("no group ", std::string(label));
    return std::int64_t{0};
  };
  CHECK(gain_of("kernel") == 100);
  CHECK(gain_of("host time of h") == 50);
  CHECK(gain_of("launch latency") == 6);
  CHECK(gain_of("synchronization latency") == 5);
}

TEST_CASE("path_gains: a step's gain is measured between its marks") {
  const TaskGraph graph = test::graph("h:begin(0,10) h:work(100) h:end(0) h:work2(70)");
  const CriticalPath path = critical_path(graph, simulate(graph));
  const auto gains = path_gains(graph, path,
                                {.grouping = PathGrouping::kind,
                                 .count = 1,
                                 .from = start_of(test::task(graph, "begin")),
                                 .to = start_of(test::task(graph, "end"))});
  REQUIRE(gains.size() == 1);
  CHECK(gains[0].on_path_ns == 170);
  CHECK(gains[0].gain_ns == 100);
}

TEST_CASE("path_gains: a gain is measured on what is asked for, from 0 to what all of it gives") {
  const TaskGraph graph = test::graph("h:work(100) h:more(50) s:k(30)<more");
  const CriticalPath path = critical_path(graph, simulate(graph));
  GainOptions options;
  // Now 180; without host time 60, without device time 150. Then the groups, most time first.
  options.measure = [](std::span<const Weights> variants) {
    REQUIRE(variants.size() == 6);
    return std::vector<std::int64_t>{180, 60, 150, 10, 200, 100};
  };
  const auto gains = path_gains(graph, path, options);
  REQUIRE(gains.size() == 3);
  CHECK(gains[0].label == "work");
  CHECK(gains[0].gain_ns == 120);  // 170, but all host time together gives 120
  CHECK(gains[1].gain_ns == 0);    // the step would get longer
  CHECK(gains[2].label == "k");
  CHECK(gains[2].gain_ns == 30);  // 80, but all device time together gives 30
}

TEST_CASE("path_gains: host time of a job names the rank") {
  const TaskGraph graph = test::graph("r0/h:a(10,40) r1/h:b(5,90)");
  const CriticalPath path = critical_path(graph, simulate(graph));
  const auto gains = path_gains(graph, path);
  REQUIRE_FALSE(gains.empty());
  CHECK(gains[0].label == "rank 1: host time of r1/h");
}

}  // namespace
}  // namespace foretrace
