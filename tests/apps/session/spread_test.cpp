#include "apps/session/spread.h"

#include <doctest/doctest.h>

#include "apps/plans/recorded_plans.h"
#include "models/whatifs/what_if_spec.h"
#include "tests/apps/questions/answers_support.h"

namespace foretrace::test {
namespace {

const std::string traces = FORETRACE_SOURCE_DIR "/examples/traces/";

RunSpread spread(const Session& session, const std::vector<std::string>& texts) {
  const auto answer = session.ask(stack_of(texts));
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  const auto found = spread_of(*answer);
  REQUIRE(found);
  return *found;
}

}  // namespace

TEST_CASE("spread: a what-if and the plan that it is say one efficiency and one rate") {
  // One device, and one rank of a job of two.
  for (const char* const name :
       {"demo_generated_cnn.json.gz", "h100_ranks/ddp_late/rank0.ftr.gz"}) {
    CAPTURE(name);
    const auto run = loaded(traces + name);
    const auto answer = plan_recording(run.session, {"dgx_h100", 4, 0, 1});
    REQUIRE_MESSAGE(answer.ok(), answer.error().message);
    REQUIRE_FALSE(answer->plans.empty());
    CHECK(devices_of(run.session) == answer->recorded_devices);
    const std::string own = run.recording.accelerator->name;
    for (const RecordedPlan& plan : answer->plans) {
      CAPTURE(plan.settings);
      CAPTURE(plan.batch);
      std::vector<std::string> texts = {"parallel:cluster=dgx_h100," + plan.settings};
      if (plan.batch != 1) texts.push_back("batch_size:factor=" + std::to_string(plan.batch));
      if (own != answer->cluster.accelerator.name) {
        texts.push_back("accelerator_swap:to=" + answer->cluster.accelerator.name);
      }
      const RunSpread found = spread(run.session, texts);
      CHECK(found.devices == 4);
      CHECK(found.efficiency == doctest::Approx(plan.efficiency));
      REQUIRE(found.samples_per_s.has_value() == plan.samples_per_s.has_value());
      if (plan.samples_per_s) CHECK(*found.samples_per_s == doctest::Approx(*plan.samples_per_s));
    }
  }
}

TEST_CASE("spread: twice the recorded ranks at the recorded step are all used") {
  // Of two ranks; its collectives are on the host's time and on no device's that limits.
  const auto run = loaded(traces + "h100_ranks/ddp_late/rank0.ftr.gz");
  REQUIRE(devices_of(run.session) == 2);
  const auto answer = run.session.ask(stack_of({"parallel:data=4,cluster=dgx_h100"}));
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  const auto found = spread_of(*answer);
  REQUIRE(found);
  CHECK(found->recorded_devices == 2);
  REQUIRE(answer->throughput()->predicted);
  // Each of four ranks does what the recorded one does.
  CHECK(*found->samples_per_s == doctest::Approx(2 * *answer->throughput()->predicted));
  CHECK(answer->samples() == doctest::Approx(2));
}

TEST_CASE("spread: what-ifs that devices have alone are no merit of more of them") {
  const auto run = loaded(traces + "demo_generated_cnn.json.gz");
  const double alone = spread(run.session, {"parallel:data=8,cluster=dgx_a100"}).efficiency;
  const double both =
      spread(run.session, {"parallel:data=8,cluster=dgx_a100", "mixed_precision"}).efficiency;
  CHECK(alone > 0.9);
  CHECK(alone <= 1.005);
  CHECK(both > 0.5);
  CHECK(both <= 1.005);
}

TEST_CASE("spread: a modelled job has its ranks now") {
  const auto run = loaded(FORETRACE_SOURCE_DIR "/examples/recipes/scenarios/bert_mlperf.json");
  const RunSpread found = spread(run.session, {"parallel:data=16"});
  CHECK(found.recorded_devices == 8);
  CHECK(found.devices == 16);
  CHECK(found.efficiency > 0.9);
  CHECK(found.efficiency <= 1.005);
}

TEST_CASE("spread: nothing where the groups are those of the trace, or nothing is spread") {
  const auto run = loaded(traces + "h100_ranks/ddp_late/rank0.ftr.gz");
  const auto slower = run.session.ask(stack_of({"communication_scale:factor=2"}));
  REQUIRE(slower.ok());
  CHECK_FALSE(spread_of(*slower));
  const auto recorded = run.session.ask(stack_of({"parallel:recorded=true,cluster=dgx_h100"}));
  REQUIRE_MESSAGE(recorded.ok(), recorded.error().message);
  CHECK_FALSE(spread_of(*recorded));
}

}  // namespace foretrace::test
