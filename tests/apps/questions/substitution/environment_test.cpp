#include "apps/questions/substitution/environment.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/apps/questions/answers_support.h"

namespace foretrace {
namespace {

std::vector<WhatIfSpec> rules_of(const std::vector<std::string>& texts) {
  const auto specs = parse_stack(texts);
  REQUIRE_MESSAGE(specs.ok(), specs.error().message);
  return *specs;
}

std::shared_ptr<const Substitutions> substitutions(const test::Loaded& run,
                                                   const std::vector<std::string>& rules,
                                                   SubstitutionGoal goal) {
  auto made = Substitutions::of(run.recording, rules_of(rules), {.goal = goal, .run = {}});
  REQUIRE_MESSAGE(made.ok(), made.error().message);
  return std::make_shared<const Substitutions>(*std::move(made));
}

/// The least cost of all sequences of different actions.
std::int64_t least(const Substitutions& rules, const SubstitutionState& state) {
  std::int64_t best = rules.goal_of(state.cost());
  for (std::size_t action = 0; action < rules.stop(); ++action) {
    const auto& taken = state.taken();
    if (std::find(taken.begin(), taken.end(), action) != taken.end()) continue;
    const auto child = rules.next(state, action);
    REQUIRE(child.ok());
    if (child->has_value()) best = std::min(best, least(rules, **child));
  }
  return best;
}

}  // namespace

TEST_CASE("substitutions: rewards of an episode add up to the time saved over the first time") {
  const test::Loaded run = test::loaded(test::demo_memory_trace);
  const auto rules = substitutions(run, {"kernel_fusion"}, SubstitutionGoal::makespan);
  REQUIRE(rules->actions().size() > 3);
  CHECK(rules->actions().back() == "stop");
  CHECK(rules->start().cost().makespan_ns == run.replay.run.answer.step_ns);
  SubstitutionEnvironment environment(rules);
  double sum = 0;
  std::size_t steps = 0;
  for (;; ++steps) {
    const auto mask = environment.mask();
    REQUIRE(mask.ok());
    const auto next =
        static_cast<std::size_t>(std::find(mask->begin(), mask->end(), true) - mask->begin());
    const auto step = environment.step(next);
    REQUIRE_MESSAGE(step.ok(), step.error().message);
    sum += step->reward;
    if (step->done) break;
    REQUIRE(steps < 200);
  }
  CHECK(steps > 1);
  const auto first = static_cast<double>(rules->start().cost().makespan_ns);
  const auto last = static_cast<double>(environment.state().cost().makespan_ns);
  CHECK(sum == doctest::Approx((first - last) / first));
  CHECK(environment.state().cost().sum_ns < rules->start().cost().sum_ns);
  // Ended until the next reset; then all is as it was.
  CHECK_FALSE(environment.step(rules->stop()).ok());
  environment.reset();
  CHECK(environment.state().cost() == rules->start().cost());
}

TEST_CASE("substitutions: what does not match is masked, and refused with its name") {
  const test::Loaded run = test::loaded(test::demo_memory_trace);
  const auto rules = substitutions(run, {"kernel_fusion"}, SubstitutionGoal::sum);
  SubstitutionEnvironment environment(rules);
  REQUIRE(environment.step(0).ok());
  const auto mask = environment.mask();
  REQUIRE(mask.ok());
  // Nothing is left to fuse in the layer that was fused.
  REQUIRE_FALSE((*mask)[0]);
  const auto refused = environment.step(0);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find(rules->actions()[0]) != std::string::npos);
  CHECK(environment.step(9999).error().message.find("expected a number below") !=
        std::string::npos);
  CHECK((*mask)[rules->stop()]);
}

TEST_CASE("substitutions: a search that relaxes enough finds what all sequences give") {
  const test::Loaded run = test::loaded(test::demo_memory_trace);
  for (const SubstitutionGoal goal : {SubstitutionGoal::makespan, SubstitutionGoal::sum}) {
    auto made = Substitutions::of(
        run.recording,
        rules_of({"kernel_fusion:select='phase=forward&layer~(BatchNorm2d|ReLU)_[01]$'"}),
        {.goal = goal, .run = {}});
    REQUIRE(made.ok());
    const auto found = search_substitutions(*made, {.relaxation = 1.05, .most_states = 300});
    REQUIRE(found.ok());
    CHECK(found->is_complete);
    REQUIRE(made->stop() >= 2);
    REQUIRE(made->stop() <= 5);
    // What the actions give one after the other is what was found.
    SubstitutionState state = made->start();
    for (const std::size_t action : found->actions) {
      auto next = made->next(state, action);
      REQUIRE((next.ok() && next->has_value()));
      state = **std::move(next);
    }
    CHECK(state.cost() == found->cost);
    CHECK(made->goal_of(found->cost) == least(*made, made->start()));
    const auto again = search_substitutions(*made, {.relaxation = 1.05, .most_states = 300});
    REQUIRE(again.ok());
    CHECK(again->actions == found->actions);
  }
}

TEST_CASE("substitutions: one that costs time at first is followed only if the search relaxes") {
  const test::Loaded run = test::loaded(test::demo_memory_trace);
  const auto rules =
      substitutions(run, {"scale:select='kind=kernel&phase=backward&layer~Conv2d_0',factor=1.02"},
                    SubstitutionGoal::sum);
  const auto grown = rules->next(rules->start(), 0);
  REQUIRE((grown.ok() && grown->has_value()));
  CHECK((*grown)->cost().sum_ns > rules->start().cost().sum_ns);
  const auto strict = search_substitutions(*rules, {.relaxation = 1, .most_states = 5});
  const auto relaxed = search_substitutions(*rules, {.relaxation = 1.5, .most_states = 5});
  REQUIRE((strict.ok() && relaxed.ok()));
  // Strict: the start and its children, none of which is followed. Relaxed: children of children.
  CHECK(strict->states <= 1 + rules->stop());
  CHECK(relaxed->states > strict->states);
  CHECK(strict->actions.empty());
  CHECK(relaxed->cost == rules->start().cost());
}

TEST_CASE("substitutions: rules that are not known, and those that match nothing, are told") {
  const test::Loaded run = test::loaded(test::demo_memory_trace);
  const auto unknown = Substitutions::of(run.recording, rules_of({"kernel_fusoin"}), {});
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().message.find("kernel_fusion") != std::string::npos);
  const auto nothing =
      Substitutions::of(run.recording, rules_of({"kernel_fusion:select='name=none'"}), {});
  REQUIRE_FALSE(nothing.ok());
  CHECK(nothing.error().message == "substitutions: no rule matches");
  const auto rules = substitutions(run, {"kernel_fusion"}, SubstitutionGoal::sum);
  CHECK_FALSE(search_substitutions(*rules, {.relaxation = 0.9}).ok());
}

}  // namespace foretrace
