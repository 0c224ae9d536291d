#include "apps/questions/search/what_if_tree.h"

#include <atomic>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "tests/apps/questions/answers_support.h"

namespace foretrace {
namespace {

using Stacks = std::vector<std::vector<std::size_t>>;

TEST_CASE("what-if tree: every stack is what its steps make one after the other") {
  const auto run = test::loaded(test::demo_memory_trace);
  const auto steps = test::stack_of({"mixed_precision", "activation_checkpointing",
                                     "fused_optimizer", "scale:select='name~no_such',factor=0.5"});
  const Stacks stacks = {{2, 1}, {}, {0}, {0, 1, 2}, {0, 1}, {0, 3, 1}, {1, 0}, {0, 1}, {3}};
  std::vector<std::atomic<int>> visits(stacks.size());
  std::vector<std::vector<std::int64_t>> points(stacks.size());
  std::vector<char> is_possible(stacks.size(), 0);
  for_each_stack(run.recording, {.what_ifs = steps}, stacks,
                 [&](std::size_t i, const WhatIfStack* changed) {
                   ++visits[i];
                   if (changed == nullptr) return;
                   is_possible[i] = 1;
                   points[i] = simulate(changed->graph()).points;
                 });
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    CAPTURE(i);
    CHECK(visits[i] == 1);
    WhatIfStack alone(run.recording);
    bool works = true;
    for (const std::size_t step : stacks[i])
      works = works && alone.push(steps[step], Neutral::refuse).ok();
    CHECK((is_possible[i] != 0) == works);
    if (works) CHECK(points[i] == simulate(alone.graph()).points);
  }
  CHECK(is_possible[5] == 0);  // one of its steps selects nothing
  CHECK(points[3] != points[4]);
}

TEST_CASE(
    "what-if tree: what the user gave stays where it changes nothing, what is tried does not") {
  const auto run = test::loaded(test::demo_memory_trace);
  const auto steps = test::stack_of({"scale:factor=1", "batch_size:factor=1", "fused_optimizer"});
  const Stacks stacks = {{0}, {0, 2}, {0, 1}};
  std::vector<char> is_possible(stacks.size(), 0);
  for_each_stack(run.recording, {.what_ifs = steps, .given = 1}, stacks,
                 [&](std::size_t i, const WhatIfStack* changed) {
                   is_possible[i] = changed != nullptr ? 1 : 0;
                 });
  CHECK(is_possible == std::vector<char>{1, 1, 0});
}

TEST_CASE("what-if tree: without stacks nothing is visited") {
  const auto run = test::loaded(test::demo_memory_trace);
  for_each_stack(run.recording, {}, {}, [](std::size_t, const WhatIfStack*) { FAIL("a visit"); });
}

}  // namespace
}  // namespace foretrace
