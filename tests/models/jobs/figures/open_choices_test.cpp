#include "models/jobs/figures/open_choices.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "models/jobs/program/rank_program.h"
#include "models/jobs/scenario/scenario.h"
#include "tests/configs.h"

using namespace foretrace;

namespace {

std::string gpt(std::uint32_t pipeline, std::uint32_t chunks) {
  return fmt::format(
      R"({{"schema": "foretrace.scenario/1",
           "workload": {{"model": "gpt_22b", "sequence": 2048}}, "cluster": "selene",
           "framework": "megatron_2022", "precision": "fp16", "recompute": "none",
           "parallelism": {{"tensor": 8, "pipeline": {}}},
           "schedule": {{"kind": "interleaved", "chunks": {}}},
           "batch": {{"global": 60, "micro": 1}}}})",
      pipeline, chunks);
}

}  // namespace

TEST_CASE("open choices: pieces that a scenario states need not be equal, chosen ones are") {
  // 48 layers as 5 stages x 2 pieces: 4 or 5 each.
  const auto stated = parse_scenario(*test::shipped(), gpt(5, 2), "stated");
  REQUIRE(stated.ok());
  OpenChoices open;
  open.recomputes = {Recompute::none, Recompute::full};
  const auto own = fastest_choice(*stated, open);
  REQUIRE_MESSAGE(own.ok(), (own.ok() ? "" : own.error().message));
  CHECK(own->job.chunks == 2);
  CHECK(own->job.recompute == Recompute::none);
  open.chunks = {1, 2};
  const auto chosen = fastest_choice(*stated, open);
  REQUIRE(chosen.ok());
  CHECK(chosen->job.chunks == 1);
}

TEST_CASE("open choices: embedding and head may be the only work of the first and last piece") {
  // 48 layers as 50 pieces: the first has none, and the last.
  const auto full = parse_scenario(*test::shipped(), gpt(10, 5), "full");
  REQUIRE_MESSAGE(full.ok(), (full.ok() ? "" : full.error().message));
  const auto program = build_program(full->job);
  REQUIRE(program.ok());
  CHECK(program->step.times.forward.front() < program->step.times.forward[1]);
  CHECK(program->step.position(0).size() == 1);
  // The head is alone as well; two pieces more are too many.
  CHECK(program->step.position(49).size() == 1);
  CHECK(parse_scenario(*test::shipped(), gpt(4, 13), "more")
            .error()
            .message.find("got 4 stages x 13 chunks, expected at most the 48 layers") !=
        std::string::npos);
  // Without pieces a stage has a layer.
  CHECK_FALSE(parse_scenario(*test::shipped(), gpt(50, 1), "alone").ok());
}
