#include "models/jobs/figures/scenario_laws.h"

#include <functional>
#include <string>

#include <doctest/doctest.h>

#include "models/jobs/scenario/scenario.h"
#include "sim/core/broken_law.h"
#include "tests/configs.h"

namespace foretrace {
namespace {

Scenario scenario() {
  auto read = read_scenario(*test::shipped(),
                            FORETRACE_SOURCE_DIR "/examples/recipes/scenarios/bert_mlperf.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  return *std::move(read);
}

/// What is said of the answer after something was made up in it; nothing where it keeps the laws.
std::string said_of(const std::function<void(ScenarioAnswer&)>& make_up) {
  const Scenario asked = scenario();
  auto answer = answer_scenario(asked);
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  make_up(*answer);
  try {
    expect_laws(asked.job, *answer, amounts_of(asked.job));
  } catch (const BrokenLaw& broken) {
    return broken.what();
  }
  return "";
}

bool names(const std::string& said, const std::string& law) {
  return said.find("this answer breaks a law and is not shown: " + law) == 0;
}

TEST_CASE("scenario laws: an answer that keeps them is an answer, one that cannot be is none") {
  CHECK(said_of([](ScenarioAnswer&) {}).empty());
  CHECK(names(said_of([](ScenarioAnswer& one) { one.analytic.memory.front().working = -1; }),
              "no part is less than nothing"));
  CHECK(names(said_of([](ScenarioAnswer& one) { one.analytic.breakdown.bubble += 1e10; }),
              "parts of a step are no more than it"));
  CHECK(names(said_of([](ScenarioAnswer& one) { one.step_ns /= 100; }),
              "no step is faster than the peak of its accelerators"));
  CHECK(names(said_of([](ScenarioAnswer& one) { one.step_ns -= one.step_ns / 8; }),
              "a step is no shorter than the work of its device"));
  CHECK(names(said_of([](ScenarioAnswer& one) { one.range.low_ns = one.step_ns + 1; }),
              "a range contains its step"));
}

}  // namespace
}  // namespace foretrace
