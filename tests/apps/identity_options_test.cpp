// Options that say what is so anyway: the answer is that of the recording, its range included.
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "tests/apps/support/program.h"

namespace foretrace::test {
namespace {

using nlohmann::json;

json answer_of(const std::string& arguments) {
  const Ran ran = run_program(arguments + " --json");
  INFO(arguments << ": " << ran.err);
  REQUIRE(ran.code == 0);
  return json::parse(ran.out);
}

struct Run {
  std::string trace;
  std::string accelerator;
};
const std::vector<Run> runs = {
    {demo_trace, "a100_sxm_80gb"},
    {"examples/traces/h200/gpt2.baseline.ftr.gz", "h200_sxm"},
    {"examples/traces/h100_host/bert-large.baseline.ftr.gz", "h100_sxm"}};

/// The predicted run: times, range, memory, energy, what it rests on. That a batch of 1 times the
/// recorded one has a throughput, which nobody asked for otherwise, is no difference.
json figures_of(const json& answer) {
  json run = answer["predicted"];
  run.erase("throughput");
  return run;
}

TEST_CASE("identity: the recorded accelerator, one rank and the same host change nothing") {
  for (const Run& run : runs) {
    CAPTURE(run.trace);
    const std::string whatif = "whatif " + run.trace + " ";
    const json recorded = answer_of("simulate " + run.trace);
    const json same = answer_of(whatif + "--apply host_upgrade:speed=1");
    CHECK(same["predicted"]["step_ns"] == recorded["baseline"]["step_ns"]);
    CHECK(same["predicted"]["breakdown"] == recorded["baseline"]["breakdown"]);
    for (const std::string& option :
         {"--accelerator " + run.accelerator, std::string("--parallel data=1"),
          std::string("--parallel data=1,tensor=1,pipeline=1,zero=3"),
          std::string("--apply scale:factor=1 --apply batch_size:factor=1")}) {
      CAPTURE(option);
      const json is = answer_of(whatif + option);
      CHECK(figures_of(is) == figures_of(same));
      for (const json& applied : is["applied"]) {
        CHECK(applied["tasks_changed"] == 0);
        CHECK(applied["notes"][0].get<std::string>().starts_with("changes nothing: "));
      }
    }
  }
}

TEST_CASE("identity: explain names the setting, or why there is none") {
  CHECK(answer_of("explain scale")["identity"] == json{{"setting", "factor=1"}});
  CHECK(run_program("explain accelerator_swap")
            .out.find("as recorded with to={accelerator}, that "
                      "of the recording\n") != std::string::npos);
  CHECK(run_program("explain cortex").out.find("as recorded with no setting: every level") !=
        std::string::npos);
}

TEST_CASE("identity: the other engine and a budget that holds the peak give the same step") {
  for (const Run& run : runs) {
    CAPTURE(run.trace);
    const json recorded = answer_of("simulate " + run.trace);
    const json queued = answer_of("simulate " + run.trace + " --engine event");
    CHECK(queued["baseline"]["step_ns"] == recorded["baseline"]["step_ns"]);
    // No silence is long enough to be cut out.
    const json whole = answer_of("simulate " + run.trace + " --step median --without-one-off");
    CHECK(whole["baseline"]["step_ns"] == recorded["baseline"]["step_ns"]);
  }
  const std::string memory = "simulate examples/traces/demo_generated_cnn_memory.json.gz";
  const json recorded = answer_of(memory);
  const json within = answer_of(memory + " --memory-budget 100%");
  CHECK(within["baseline"]["step_ns"] == recorded["baseline"]["step_ns"]);
}

}  // namespace
}  // namespace foretrace::test
