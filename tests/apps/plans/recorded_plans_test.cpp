#include "apps/plans/recorded_plans.h"

#include <algorithm>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "models/whatifs/what_if_spec.h"
#include "tests/configs.h"

using namespace foretrace;

namespace {

Recording demo() {
  auto recording = load(FORETRACE_SOURCE_DIR "/examples/traces/demo_generated_cnn.json.gz",
                        {.catalogue = foretrace::test::shipped()});
  REQUIRE_MESSAGE(recording.ok(), recording.error().message);
  return *std::move(recording);
}

}  // namespace

TEST_CASE("plan of a recording: each plan is the what-if that its settings name, the best first") {
  const Session session = *Session::of(demo());
  const auto answer = plan_recording(session, {"dgx_a100", 4, 0, 2});
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  REQUIRE(answer->plans.size() >= 3);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < answer->plans.size(); ++i) {
    const RecordedPlan& plan = answer->plans[i];
    CAPTURE(plan.settings);
    CHECK(plan.data * plan.tensor * plan.pipeline == 4);
    CHECK(seen.insert(plan.settings).second);
    if (i > 0) CHECK(plan.speedup <= answer->plans[i - 1].speedup);
    CHECK((plan.exposed_ns >= 0) == (i < 2));
    CHECK(plan.low_ns <= plan.step_ns);
    CHECK(plan.high_ns >= plan.step_ns);
    auto spec = spread_over(plan.settings, "dgx_a100");
    REQUIRE(spec.ok());
    std::vector<WhatIfSpec> specs = {*std::move(spec)};
    if (session.recording().accelerator->name != answer->cluster.accelerator.name) {
      specs.push_back(swap_to(answer->cluster.accelerator.name));
    }
    const auto alone = session.ask(specs);
    REQUIRE(alone.ok());
    CHECK(alone->step_ns() == plan.step_ns);
    CHECK(alone->samples() == plan.samples);
  }
  // Convolutions do not come in pairs.
  CHECK(std::any_of(answer->refused.begin(), answer->refused.end(), [](const auto& refused) {
    return refused.settings.find("tensor=4") != std::string::npos;
  }));
}

TEST_CASE("plan of a recording: refuses one device, and more than a cluster has") {
  const Session session = *Session::of(demo());
  const auto error_of = [&](const char* cluster, std::uint32_t gpus) {
    const auto answer = plan_recording(session, {cluster, gpus, 0, 5});
    REQUIRE_FALSE(answer.ok());
    return answer.error().message;
  };
  CHECK(error_of("dgx_a100", 1) ==
        "number of GPUs: got 1, expected at least 2 to spread a recorded run over");
  CHECK(error_of("dgx_a100", 100000).find("expected at most the") != std::string::npos);
  CHECK(error_of("dgx_a10", 8).find("dgx_a100") != std::string::npos);
}

TEST_CASE("plan of a recording: groups of every size that divides the devices are tried") {
  const Session session = *Session::of(demo());
  const auto answer = plan_recording(session, {"dgx_a100", 6, 0, 2});
  REQUIRE(answer.ok());
  CHECK(answer->recorded_devices == 1);
  for (const char* const part : {"tensor=3", "tensor=6"}) {
    CAPTURE(part);
    CHECK(std::any_of(answer->refused.begin(), answer->refused.end(), [&](const auto& refused) {
      return refused.settings.find(part) != std::string::npos;
    }));
  }
  CHECK(std::any_of(answer->plans.begin(), answer->plans.end(),
                    [](const RecordedPlan& plan) { return plan.data == 2 && plan.pipeline == 3; }));
}

TEST_CASE("plan of a recording: a device as fast as the recorded one is no reason to refuse") {
  const Session session = *Session::of(demo());
  Recording twin = demo();
  REQUIRE(twin.accelerator.has_value());
  twin.accelerator->name = "twin_of_the_recorded_device";
  const auto own = plan_recording(session, {"dgx_a100", 2, 0, 1});
  const auto other = plan_recording(*Session::of(std::move(twin)), {"dgx_a100", 2, 0, 1});
  REQUIRE((own.ok() && other.ok()));
  REQUIRE_FALSE(own->plans.empty());
  REQUIRE(other->plans.size() == own->plans.size());
  CHECK(other->plans.front().step_ns == own->plans.front().step_ns);
}
