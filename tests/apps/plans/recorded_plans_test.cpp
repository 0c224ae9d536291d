#include "apps/plans/recorded_plans.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>

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
  std::set<std::pair<std::string, double>> seen;
  std::size_t equal = 0;
  std::size_t larger = 0;
  for (std::size_t i = 0; i < answer->plans.size(); ++i) {
    const RecordedPlan& plan = answer->plans[i];
    CAPTURE(plan.settings);
    CHECK(plan.data * plan.tensor * plan.pipeline == 4);
    CHECK(seen.emplace(plan.settings, plan.batch).second);
    ++(plan.is_equal_work() ? equal : larger);
    if (i > 0 && plan.is_equal_work() == answer->plans[i - 1].is_equal_work()) {
      CHECK(plan.speedup <= answer->plans[i - 1].speedup);
    }
    CHECK((plan.exposed_ns >= 0) == ((plan.is_equal_work() ? equal : larger) <= 2));
    CHECK(plan.low_ns <= plan.step_ns);
    CHECK(plan.high_ns >= plan.step_ns);
    auto spec = spread_over(plan.settings, "dgx_a100");
    REQUIRE(spec.ok());
    std::vector<WhatIfSpec> specs = {*std::move(spec)};
    if (plan.batch != 1) specs.push_back(resize_batch(plan.batch));
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
  CHECK(error_of("dgx_a100", 1) == "number of GPUs: got 1, expected at least 2 for a recorded run");
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

namespace {

/// Share of the recorded steps that the device updates parameters in.
double update_share(const Session& session) {
  const TaskGraph& graph = session.graph();
  double update_ns = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (!is_device(graph.kind(task)) || graph.phase(task) != Phase::update) continue;
    update_ns += static_cast<double>(graph.duration_ns(task));
  }
  const auto steps = static_cast<double>(std::max<std::size_t>(1, graph.context().steps.size()));
  return update_ns / steps / static_cast<double>(session.step_ns());
}

/// What the planner promises of any recording.
void check_work(const RecordedPlans& answer, double update) {
  bool was_larger = false;
  for (const RecordedPlan& plan : answer.plans) {
    CAPTURE(plan.settings);
    CAPTURE(plan.batch);
    CAPTURE(plan.efficiency);
    // Where all fit, plans of other work stand behind all of equal work.
    if (answer.too_large == 0) {
      CHECK_FALSE((was_larger && plan.is_equal_work()));
      was_larger = !plan.is_equal_work();
    }
    // A smaller batch in every pass is for as many samples as recorded, and nothing else.
    if (plan.batch != 1) CHECK(plan.is_equal_work());
    if (!plan.is_equal_work()) CHECK(plan.batch == 1);
    // No device does more than its part. A sharded update is done once, not by every copy.
    CHECK(plan.efficiency > 0);
    const double divided = plan.settings.find("zero") == std::string::npos ? 0 : update;
    CHECK(plan.efficiency * (1 - divided) <= 1.005);
    // Of equal work, efficiency and speed say the same.
    if (plan.is_equal_work() && answer.cluster.accelerator.name == "h100_sxm") {
      CHECK(plan.efficiency * answer.gpus ==
            doctest::Approx(plan.speedup * answer.recorded_devices).epsilon(1e-6));
    }
  }
}

}  // namespace

TEST_CASE("plan of a recording: equal work first, and no device does more than its part") {
  std::mt19937_64 random(11);
  for (const char* const name : {"h100/vgg19.baseline", "h100/resnet50.baseline",
                                 "h100/gpt2.baseline", "h100_host/bert-large.baseline"}) {
    CAPTURE(name);
    auto recording = load(std::string(FORETRACE_SOURCE_DIR "/examples/traces/") + name + ".ftr.gz",
                          {.catalogue = foretrace::test::shipped()});
    REQUIRE_MESSAGE(recording.ok(), recording.error().message);
    const Session session = *Session::of(*std::move(recording));
    for (int draw = 0; draw < 4; ++draw) {
      const auto gpus = static_cast<std::uint32_t>(2 + random() % 15);
      CAPTURE(gpus);
      const auto answer = plan_recording(session, {"dgx_h100", gpus, 0, 1});
      REQUIRE_MESSAGE(answer.ok(), answer.error().message);
      CHECK_FALSE(answer->plans.empty());
      check_work(*answer, update_share(session));
    }
  }
}
