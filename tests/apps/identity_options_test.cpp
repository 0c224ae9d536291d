// Options that say what is so anyway: the answer is that of the recording, its range included.
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "apps/report/pages/result.h"
#include "apps/report/writers.h"
#include "apps/session/session.h"
#include "models/whatifs/what_if.h"
#include "tests/apps/support/program.h"
#include "tests/laws/identity_settings.h"

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

/// The answer but for what was asked, see figures_of().
json document_of(const Answer& answer) {
  json document = json::parse(
      report::json_of(report::result_page({.session = answer.session(), .predicted = &answer})));
  document.erase("applied");
  document["predicted"].erase("throughput");
  return document;
}

/// What differs, as a patch.
json difference(const json& was, const json& is) { return json::diff(was, is); }

TEST_CASE("law: the whole answer at an identity is that without a change") {
  std::size_t asked = 0;
  for (const char* const input :
       {demo_trace, "examples/traces/h200/gpt2.baseline.ftr.gz", "tests/fixtures/job",
        "examples/recipes/scenarios/bert_mlperf.json"}) {
    CAPTURE(std::string(input));
    const auto session = open(std::string(FORETRACE_SOURCE_DIR "/") + input,
                              {.configs = FORETRACE_SOURCE_DIR "/configs"});
    REQUIRE_MESSAGE(session.ok(), session.error().message);
    const auto plain = session->ask(std::span<const WhatIf>{});
    REQUIRE_MESSAGE(plain.ok(), plain.error().message);
    const json was = document_of(*plain);
    const auto& on = session->recording().accelerator;
    for (const WhatIfInfo* info : what_ifs::all()) {
      CAPTURE(std::string(info->name));
      // Of a modelled job these say anew what there is once, such as on how many devices.
      if (session->recording().modelled != nullptr && info->change_job != nullptr) continue;
      const auto what_if = identity_of(*info, session->graph(), on ? &*on : nullptr);
      if (!what_if) continue;
      const auto answer = session->ask(std::span<const WhatIf>(&*what_if, 1));
      if (!answer.ok()) {  // nothing in this run that it could be about
        CHECK_MESSAGE((answer.error().code == ErrorCode::no_match ||
                       answer.error().code == ErrorCode::unsupported ||
                       answer.error().code == ErrorCode::missing_cost),
                      answer.error().message);
        continue;
      }
      ++asked;
      CHECK(difference(was, document_of(*answer)) == json::array());
    }
  }
  CHECK(asked > 60);
}

TEST_CASE("identity: a modelled job is as certain with a change that is none as it is") {
  const json modelled = answer_of("simulate examples/recipes/scenarios/bert_mlperf.json");
  const json same =
      answer_of("whatif examples/recipes/scenarios/bert_mlperf.json --apply scale:factor=1");
  for (const char* const end : {"low_ns", "high_ns"}) {
    const auto share = [&](const json& answer) {
      return answer["predicted"][end].get<double>() / answer["predicted"]["step_ns"].get<double>();
    };
    CHECK(share(same) == doctest::Approx(share(modelled)).epsilon(1e-6));
  }
  // Nothing was measured, and nothing can be off from it.
  CHECK(same["measured"].is_null());
  CHECK(same["baseline"]["error"].is_null());
  CHECK(same["baseline"]["step_ns"] == same["predicted"]["step_ns"]);
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
