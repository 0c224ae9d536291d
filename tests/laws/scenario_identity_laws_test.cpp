// Law: a field of a scenario that divides by one rank, or names what is so anyway, changes nothing.
#include <array>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/jobs/figures/scenario_answer.h"
#include "models/jobs/scenario/scenario.h"
#include "tests/configs.h"

using namespace foretrace;

namespace {

/// What a scenario says besides its model and machine.
struct Fields {
  std::string_view workload;     ///< model and what goes with it
  std::string_view parallelism;  ///< sizes of groups
  std::string_view more = {};    ///< in the object of parallelism
  std::string_view beside = {};  ///< members of the scenario
};

ScenarioAnswer answer_to(const Fields& fields) {
  const std::string text = fmt::format(
      R"({{"schema": "foretrace.scenario/1", "workload": {{{}}}, "cluster": "selene",
          "framework": "megatron_2022", "precision": "bf16",
          "parallelism": {{{}{}}}, "batch": {{"global": 8, "micro": 1}}{}}})",
      fields.workload, fields.parallelism, fields.more, fields.beside);
  const auto scenario = parse_scenario(*test::shipped(), text, "s.json");
  REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
  auto answer = answer_scenario(*scenario);
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  return *std::move(answer);
}

void check_same(const ScenarioAnswer& is, const ScenarioAnswer& was) {
  CHECK(is.step_ns == was.step_ns);
  CHECK(is.analytic.step_ns == was.analytic.step_ns);
  CHECK(is.range.low_ns == was.range.low_ns);
  CHECK(is.range.high_ns == was.range.high_ns);
  CHECK(is.fits == was.fits);
  CHECK(is.model_flops == was.model_flops);
  REQUIRE(is.analytic.memory.size() == was.analytic.memory.size());
  for (std::size_t stage = 0; stage < is.analytic.memory.size(); ++stage) {
    CAPTURE(stage);
    CHECK(is.analytic.memory[stage].total() == was.analytic.memory[stage].total());
  }
}

constexpr std::string_view dense = R"("model": "gpt2_xl", "sequence": 1024)";
constexpr std::string_view experts = R"("model": "mixtral_8x7b", "sequence": 1024)";

}  // namespace

TEST_CASE("law: a group of one rank, and what only such a group would do, changes nothing") {
  constexpr std::array more = {
      R"(, "tensor": 1)",
      R"(, "sequence": true)",
      R"(, "tensor": 1, "sequence": true)",
      R"(, "context": 1, "context_kind": "all_gather")",
      R"(, "context": 1, "context_kind": "all_to_all", "balances_context": true)",
      R"(, "expert": 1, "expert_tensor": 1)",
      R"(, "sharding": "none")"};
  constexpr std::array beside = {R"(, "schedule": {"kind": "1f1b", "chunks": 1})",
                                 R"(, "recompute": "none")"};
  for (const std::string_view workload : {dense, experts}) {
    for (const std::string_view groups :
         {R"("data": 1)", R"("data": 4)", R"("data": 2, "pipeline": 2)"}) {
      CAPTURE(std::string(workload));
      CAPTURE(std::string(groups));
      const auto plain = answer_to({workload, groups});
      for (const std::string_view added : more) {
        CAPTURE(std::string(added));
        check_same(answer_to({workload, groups, added}), plain);
      }
      for (const std::string_view added : beside) {
        CAPTURE(std::string(added));
        check_same(answer_to({workload, groups, "", added}), plain);
      }
    }
  }
}

TEST_CASE("law: what one rank shards it has whole") {
  for (const std::string_view groups : {R"("data": 1)", R"("data": 1, "pipeline": 2)"}) {
    CAPTURE(std::string(groups));
    const auto plain = answer_to({dense, groups});
    for (const std::string_view sharding : {"optimizer", "gradients"}) {
      CAPTURE(std::string(sharding));
      const std::string added = fmt::format(R"(, "sharding": "{}")", sharding);
      check_same(answer_to({dense, groups, added}), plain);
    }
  }
}
