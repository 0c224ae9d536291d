#include "apps/session/replay/doubt.h"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "tests/models/toy_run.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace {
namespace {

/// A recording of the graph as it is simulated, with references that agree with it.
trace::BuiltGraph built_of(std::string_view text) {
  trace::BuiltGraph built;
  built.graph = test::graph(text);
  const Reactions reactions = reactions_of(built.graph);
  built.honesty.span_ns = simulate(built.graph).span_ns;
  built.honesty.host_only_ns = reactions.device_x0_ns;
  built.honesty.device_busy_ns = reactions.host_x0_ns;
  return built;
}

std::vector<Doubt> doubts(const trace::BuiltGraph& built) {
  return doubts_of(built, simulate(built.graph), reactions_of(built.graph));
}

// The host launches for 100 and k runs for 900 of the 1000.
constexpr std::string_view device_bound = "h:a(100) s:k(900)<a";

TEST_CASE("a graph that explains the trace and reacts as the events say leaves no doubt") {
  CHECK(doubts(built_of(device_bound)).empty());
}

TEST_CASE("more than 5 % of the span without a reason are doubtful, device and launches together") {
  trace::BuiltGraph built = built_of(device_bound);
  built.honesty.unexplained_device_ns = 30;
  built.honesty.unexplained_launch_ns = 20;
  CHECK(doubts(built).empty());  // exactly 5 %
  built.honesty.unexplained_launch_ns = 21;
  const std::vector<Doubt> found = doubts(built);
  REQUIRE(found.size() == 1);
  CHECK(found[0].brief == "5.1 % of the span unexplained");
  // The larger part first.
  CHECK(found[0].text.find("no recorded cause: late kernels (3.0 %") != std::string::npos);
  CHECK(found[0].text.find(", blocked launch calls (2.1 %") != std::string::npos);
}

TEST_CASE("the reason for late device work is the one that the trace shows") {
  trace::BuiltGraph built = built_of(device_bound);
  built.honesty.unexplained_device_ns = 100;
  CHECK(doubts(built).at(0).text.find("may share the GPU") != std::string::npos);
  built.honesty.flags = {"first use", "late device work"};
  CHECK(doubts(built).at(0).text.find("used for the first time") != std::string::npos);
  built.honesty.flags = {"missing records"};
  CHECK(doubts(built).at(0).text.find("were not recorded") != std::string::npos);
}

TEST_CASE("launches without any device work leave the host alone, which is said") {
  const auto doubts_with = [](int launches) {
    test::ToyRun run;
    for (int i = 0; i < launches; ++i) {
      run.host_task("cudaLaunchKernel", TaskKind::launch, 10, 5);
    }
    trace::BuiltGraph built;
    built.graph = run.build();
    built.honesty.span_ns = built.honesty.host_only_ns = simulate(built.graph).span_ns;
    return doubts(built);
  };
  CHECK(doubts_with(3).empty());
  const std::vector<Doubt> found = doubts_with(77);
  REQUIRE(found.size() == 1);
  CHECK(found[0].brief == "no device work recorded");
  CHECK(found[0].text.find("77 calls") != std::string::npos);
}

TEST_CASE("reactions off by more than 10 % are doubtful") {
  // The graph keeps the host of 100 when the device takes no time; the events say 112, then 111.
  trace::BuiltGraph built = built_of("h:a(100) s:k(100)<a");
  built.honesty.host_only_ns = 112;
  const std::vector<Doubt> found = doubts(built);
  REQUIRE(found.size() == 1);
  CHECK(found[0].text.find("infinitely fast GPU") != std::string::npos);
  built.honesty.host_only_ns = 111;
  CHECK(doubts(built).empty());
  // The device is busy for 100; if the graph needs 130 without a host, something else holds it.
  trace::BuiltGraph late = built_of("h:a(100) s:k(100)<a+30");
  late.honesty.device_busy_ns = 100;
  REQUIRE(doubts(late).size() == 1);
  CHECK(doubts(late)[0].text.find("infinitely fast CPU") != std::string::npos);
}

TEST_CASE("a doubt about the host says the same figure as the table of reactions") {
  // Without a host two kernels of 10 take 20 and the gap of 5 between them; 100 more are held by
  // something else. Said is what lies above the busy 20, gap or not: 105 of 20.
  trace::BuiltGraph built =
      built_of("h:a(1000) s:k(10)<a s:m(10,5)<a s2:other(0)<a s:n(0)<other+125");
  built.honesty.device_busy_ns = 20;
  const std::vector<Doubt> found = doubts(built);
  REQUIRE(found.size() == 1);
  CHECK(found[0].text.find("(+525 %)") != std::string::npos);
}

TEST_CASE("gaps that a stream needs between its operations are no reason for doubt") {
  // Without a host the ten operations take 10 x 10 + 9 x 5 = 145; they are busy for 100.
  std::string text = "h:a(1000)";
  for (int i = 0; i < 10; ++i) {
    text += " s:k" + std::to_string(i) + (i == 0 ? "(10)<a" : "(10,5)<a");
  }
  trace::BuiltGraph built = built_of(text);
  built.honesty.device_busy_ns = 100;
  CHECK(doubts(built).empty());
}

TEST_CASE("a busy device that does not react to kernel times is doubtful") {
  // Every kernel is on a stream of its own: they follow each other only as their launches do. Twice
  // as long, ten kernels of 95 add 95 to a span of 1095 instead of 950.
  std::string text;
  for (int i = 0; i < 10; ++i) {
    const std::string n = std::to_string(i);
    text += " h:a" + n + "(100) s" + n + ":k" + n + "(95)<a" + n;
  }
  trace::BuiltGraph built = built_of(text);
  built.honesty.device_busy_ns = 1000;
  const std::vector<Doubt> found = doubts(built);
  REQUIRE_FALSE(found.empty());
  CHECK(found.back().brief == "kernel times do not change the step");
}

TEST_CASE("a replay that misses the recorded step by more than 2 % is doubtful, however it does") {
  CHECK_FALSE(doubt_of_replay(100, 100));
  CHECK_FALSE(doubt_of_replay(1'020, 1'000));
  CHECK_FALSE(doubt_of_replay(0, 0));  // nothing was recorded
  REQUIRE(doubt_of_replay(1'021, 1'000));
  CHECK(doubt_of_replay(1'021, 1'000)->brief == "the replay is +2.1 % off");
  REQUIRE(doubt_of_replay(10'000'000, 29'980'000));
  CHECK(doubt_of_replay(10'000'000, 29'980'000)->text ==
        "the replay takes 10.00 ms, the recorded run took 29.98 ms (-66.6 %)");
}

}  // namespace
}  // namespace foretrace
