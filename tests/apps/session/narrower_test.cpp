#include "apps/session/narrower.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "apps/session/predict.h"
#include "models/whatifs/what_if_spec.h"
#include "tests/apps/session/profiled_recording.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace {
namespace {

// Two streams that wait for each other.
constexpr std::string_view two_streams =
    "h:a(100) h:b(100) s7:k(1000)<a s8:m(400)<b<k s7:n(300)<m s8:all(500)<n";

constexpr ParamInfo share_param = {.name = "share",
                                   .type = ParamType::number,
                                   .unit = "1",
                                   .default_text = "0.5",
                                   .doc = "Of k.",
                                   .minimum = 0,
                                   .maximum = 1,
                                   .optimistic = "0.4",
                                   .pessimistic = "0.8"};
constexpr std::array params = {share_param};

/// Kernel "k" takes a share of its time, "m" half of it within 0.8 and 1.5.
Result<Change> shorten(const WhatIfInput& input, const ParamValues& values) {
  const TaskGraph& graph = input.graph;
  const TaskId k = test::task(graph, "k");
  const TaskId m = test::task(graph, "m");
  Change change;
  change.durations.push_back(
      {k, static_cast<std::int64_t>(1000 * values.number(share_param)), Provenance::scaled, 1, 1});
  change.durations.push_back({m, 200, Provenance::scaled, 0.8F, 1.5F});
  return change;
}

WhatIfInfo info_of(std::string_view name) {
  WhatIfInfo made{};
  made.name = name;
  made.params = params;
  made.calibrate = "share: time it";
  made.apply = shorten;
  return made;
}

WhatIf what_if_of(const WhatIfInfo& info,
                  const std::vector<std::pair<std::string, std::string>>& given = {}) {
  return {&info, *ParamValues::parse(info.name, info.params, given)};
}

Session session_of(std::string_view text) {
  Recording recording;
  recording.path = "text";
  recording.built.graph = test::graph(text);
  return *Session::of(std::move(recording));
}

const Measurement* row_of(const NarrowerAnswer& answer, std::string_view name) {
  for (const Measurement& row : answer.rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("narrower: a stated parameter gives the range of the prediction with it stated") {
  const WhatIfInfo info = info_of("shorten");
  const Session session = session_of(two_streams);
  const std::array stack = {what_if_of(info)};
  const Answer now = *session.ask(stack);
  const auto found = find_narrower(session, stack, now.prediction());
  REQUIRE(found.ok());
  const Measurement* const stated = row_of(*found, "shorten:share");
  REQUIRE(stated != nullptr);
  CHECK(stated->how == "share: time it");
  const std::array given = {what_if_of(info, {{"share", "0.5"}})};
  const Answer then = *session.ask(given);
  CHECK(stated->low_ns == then.low_ns());
  CHECK(stated->high_ns == then.high_ns());
  CHECK(stated->width < 1);
}

TEST_CASE("narrower: no range is wider or elsewhere than now, and all together is the narrowest") {
  const WhatIfInfo info = info_of("shorten");
  const Session session = session_of(two_streams);
  const std::array stack = {what_if_of(info)};
  const Answer now = *session.ask(stack);
  const auto found = find_narrower(session, stack, now.prediction());
  REQUIRE(found.ok());
  REQUIRE_FALSE(found->rows.empty());
  for (const Measurement& row : found->rows) {
    CAPTURE(row.name);
    CHECK(row.low_ns >= now.low_ns());
    CHECK(row.high_ns <= now.high_ns());
    CHECK(row.low_ns <= now.step_ns());
    CHECK(row.high_ns >= now.step_ns());
    CHECK(found->together.width <= row.width);
  }
  // Kernels without shapes are all kernels here, and there is no collective.
  REQUIRE(row_of(*found, "operator shapes") != nullptr);
  CHECK(row_of(*found, "operator shapes")->high_ns == row_of(*found, "kernel times")->high_ns);
  CHECK(row_of(*found, "collective times") == nullptr);
}

TEST_CASE("narrower: the cheapest that halves the range comes first") {
  const WhatIfInfo info = info_of("shorten");
  const Session session = session_of(two_streams);
  const std::array stack = {what_if_of(info)};
  const auto found = find_narrower(session, stack, session.ask(stack)->prediction());
  REQUIRE(found.ok());
  bool halves = true;
  int effort = 0;
  for (const Measurement& row : found->rows) {
    CHECK((halves || row.width > 0.5));
    if (row.width <= 0.5) CHECK(row.effort >= effort);
    halves = row.width <= 0.5;
    effort = row.effort;
  }
}

TEST_CASE("narrower: profiler overhead is what an unprofiled step would settle") {
  const Session session = *Session::of(test::profiled_recording(30));
  const Result<std::vector<WhatIf>> stack = stack_of({"scale:factor=0.05"});
  REQUIRE(stack.ok());
  const Answer now = *session.ask(*stack);
  REQUIRE(now.prediction().faster.profiler > 0);
  const auto found = find_narrower(session, *stack, now.prediction());
  REQUIRE(found.ok());
  const Measurement* const row = row_of(*found, "unprofiled step");
  REQUIRE(row != nullptr);
  CHECK(row->low_ns > now.low_ns());
  CHECK(row->high_ns == now.high_ns());
}

}  // namespace foretrace
