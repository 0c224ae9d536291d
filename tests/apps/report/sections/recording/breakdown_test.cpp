#include <array>

#include <doctest/doctest.h>

#include "apps/report/pages/result.h"
#include "apps/report/writers.h"
#include "apps/session/predict.h"
#include "apps/session/replay/analysis.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace::report {
namespace {

/// The launch of "n" takes 0.6 ms to arrive, where it took 2 ns.
Result<Change> arrive_late(const WhatIfInput& scenario, const ParamValues& /*values*/) {
  Change change;
  change.lags.push_back(
      {test::task(scenario.graph, "n"), DependencyKind::launch, std::int64_t{600'000}});
  return change;
}

TEST_CASE("breakdown: what was shown as nothing is new, and no percentage of it") {
  Recording recording;
  recording.path = "text";
  recording.built.graph =
      test::graph("h:l(10) s:k(20000000)<l+2 h:m(40000000) s2:n(9000000)<m+2<k");
  WhatIfInfo late{};
  late.name = "late";
  late.apply = arrive_late;
  const std::array<WhatIf, 1> stack = {{{&late, {}}}};
  const auto session = Session::of(recording);
  REQUIRE(session.ok());
  const auto answer = session->ask(stack);
  REQUIRE(answer.ok());
  CHECK(session->analysis().breakdown.idle_ns == 2);
  const Page page = result_page({.session = *session, .predicted = &*answer});
  const std::string text = text_of(page);
  CAPTURE(text);
  CHECK(text.find("device computes            29.00 ms   29.00 ms  0.00 %\n") != std::string::npos);
  CHECK(text.find("latencies and gaps             2 ns    0.60 ms     new\n") != std::string::npos);
}

}  // namespace
}  // namespace foretrace::report
