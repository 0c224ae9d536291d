#include "apps/questions/search/best_set.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/apps/questions/answers_support.h"

namespace foretrace {
namespace {

using test::Loaded;

/// All but these few, so that every set can be tried by hand.
std::vector<std::string> all_but(const std::vector<std::string>& kept) {
  std::vector<std::string> others;
  for (const WhatIfInfo* const info : what_ifs::all()) {
    if (std::find(kept.begin(), kept.end(), info->name) == kept.end()) {
      others.emplace_back(info->name);
    }
  }
  return others;
}

const std::vector<std::string> few = {
    "mixed_precision", "data_loader_workers",      "whole_program_fusion", "kernel_fusion",
    "pinned_copies",   "activation_checkpointing", "eight_bit_optimizer"};

/// Time per sample by the way that --apply takes; infinite if the set is not possible.
double asked(const Loaded& run, const std::vector<std::string>& texts) {
  const std::vector<WhatIf> stack = test::stack_of(texts);
  for (std::size_t a = 0; a < stack.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (in_conflict(*stack[a].info, *stack[b].info)) {
        return std::numeric_limits<double>::infinity();
      }
    }
  }
  const auto prediction = predict(run.recording, stack, {}, &run.replay);
  if (!prediction.ok()) return std::numeric_limits<double>::infinity();
  return static_cast<double>(prediction->run.answer.step_ns) / prediction->samples.value_or(1);
}

BestSetAnswer found(const Loaded& run, const BestSetQuestion& question,
                    const std::vector<std::string>& stack = {}) {
  const auto answer = find_best_set(run.session, test::stack_of(stack), question);
  REQUIRE_MESSAGE(answer.ok(), (answer.ok() ? "" : answer.error().message));
  return *answer;
}

}  // namespace

TEST_CASE("best set: of a few what-ifs it is what trying every set of them finds") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  const BestSetAnswer answer =
      found(run, {.most_members = 7, .without = all_but(few), .target = {}});
  REQUIRE(answer.best);
  double shortest = std::numeric_limits<double>::infinity();
  for (unsigned bits = 1; bits < (1U << few.size()); ++bits) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < few.size(); ++i) {
      if ((bits >> i & 1U) != 0) texts.push_back(few[i]);
    }
    shortest = std::min(shortest, asked(run, texts));
  }
  // What gives less than the tolerance is left out.
  CHECK(answer.best->time_per_sample() <= shortest * (1 + 3 * answer.tolerance));
  CHECK(answer.best->time_per_sample() >= shortest);
  CHECK(answer.complete_size == 3);
  CHECK(answer.low_ns <= answer.best->step_ns);
  CHECK(answer.high_ns >= answer.best->step_ns);
}

TEST_CASE("best set: every figure of a member is what --apply answers") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  const BestSetAnswer answer = found(run, {.target = {}});
  REQUIRE(answer.best);
  REQUIRE(answer.members.size() == answer.best->choices.size());
  std::vector<std::string> so_far;
  for (const SetMember& member : answer.members) {
    const std::string& text = answer.choices[member.choice].texts.at(0);
    CAPTURE(text);
    so_far.push_back(text);
    REQUIRE(member.so_far);
    CHECK(member.so_far->time_per_sample() == asked(run, so_far));
    REQUIRE(member.alone);
    CHECK(member.alone->time_per_sample() == asked(run, {text}));
    REQUIRE(member.without);
    CHECK(member.without->time_per_sample() ==
          asked(run, texts_of_set({}, answer, *member.without)));
    // Each gives something beside the others.
    CHECK(member.without->time_per_sample() >
          answer.best->time_per_sample() * (1 + answer.tolerance));
  }
  CHECK(asked(run, so_far) == answer.best->time_per_sample());
}

TEST_CASE(
    "best set: a front has the best in time, the best in memory, and nothing that is beaten") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  const BestSetAnswer by_time = found(run, {.target = {}});
  REQUIRE(by_time.front.size() > 2);
  for (std::size_t i = 1; i < by_time.front.size(); ++i) {
    CHECK(by_time.front[i].time_per_sample() >= by_time.front[i - 1].time_per_sample());
    CHECK(*by_time.front[i].live_bytes < *by_time.front[i - 1].live_bytes);
  }
  const BestSetAnswer by_memory = found(run, {.by = RankBy::memory, .target = {}});
  REQUIRE(by_memory.best);
  CHECK(*by_memory.best->live_bytes <= *by_time.front.back().live_bytes);
  for (const std::vector<ChosenSet>* const sizes : {&by_time.by_size, &by_memory.by_size}) {
    for (std::size_t i = 1; i < sizes->size(); ++i) {
      CHECK((*sizes)[i].choices.size() > (*sizes)[i - 1].choices.size());
    }
  }
}

TEST_CASE("best set: few trials, or fewer members, never give a better answer than many") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  const double many = found(run, {.most_trials = 1000, .target = {}}).best->time_per_sample();
  const BestSetAnswer few_trials = found(run, {.most_trials = 20, .target = {}});
  CHECK(few_trials.complete_size == 1);
  CHECK(few_trials.best->time_per_sample() >= many);
  const BestSetAnswer one = found(run, {.most_members = 1, .target = {}});
  CHECK(one.best->choices.size() == 1);
  CHECK(one.best->time_per_sample() == asked(run, {"mixed_precision"}));
}

TEST_CASE("best set: what has to fit fits, with settings for memory where that helps") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  const auto within = [](std::int64_t mebibytes) -> MemoryTarget {
    return {.capacity_bytes = mebibytes << 20U,
            .context_low_bytes = std::int64_t{300} << 20U,
            .context_high_bytes = std::int64_t{600} << 20U};
  };
  const BestSetAnswer tight = found(run, {.target = within(800)});
  REQUIRE(tight.best);
  CHECK_FALSE(tight.now.fits);
  CHECK(*tight.best->needed_bytes <= tight.target->capacity_bytes);
  CHECK(tight.best->time_per_sample() >= found(run, {.target = {}}).best->time_per_sample());
  const BestSetAnswer hopeless = found(run, {.target = within(10)});
  CHECK_FALSE(hopeless.best);
  REQUIRE(hopeless.nearest);
  CHECK(*hopeless.nearest->needed_bytes > hopeless.target->capacity_bytes);
}

TEST_CASE("best set: a set fits where the same what-ifs asked for alone fit") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  Recording small = run.recording;
  REQUIRE(small.accelerator);
  const std::int64_t needed = target_of(*small.accelerator).needed_bytes(*run.session.need());
  std::size_t refused = 0;
  for (const double room : {0.9, 1.1}) {
    small.accelerator->memory_bytes = static_cast<std::int64_t>(room * static_cast<double>(needed));
    const auto session = Session::of(small);
    REQUIRE(session.ok());
    const Loaded there{*session};
    for (const std::vector<std::string>& stack :
         {std::vector<std::string>{}, {"batch_size:factor=4"}}) {
      const BestSetAnswer answer = found(there, {.most_members = 2, .target = {}}, stack);
      const auto check = [&](const ChosenSet& set) {
        const std::vector<WhatIf> all = test::stack_of(texts_of_set(stack, answer, set));
        const auto asked_alone = session->ask(all);
        REQUIRE(asked_alone.ok());
        CHECK(set.fits == asked_alone->fits());
        refused += set.fits ? 0 : 1;
      };
      check(answer.now);
      if (answer.best) check(*answer.best);
      for (const ChosenSet& set : answer.front) check(set);
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("best set: on top of a stack, which is none of its members") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  const BestSetAnswer answer = found(run, {.target = {}}, {"mixed_precision"});
  REQUIRE(answer.best);
  CHECK(answer.now.time_per_sample() == asked(run, {"mixed_precision"}));
  CHECK(answer.now.speedup == 1);
  for (const std::string& text : texts_of_set({}, answer, *answer.best)) {
    CHECK(text != "mixed_precision");
  }
  const std::vector<std::string> stack = {"mixed_precision"};
  CHECK(answer.best->time_per_sample() == asked(run, texts_of_set(stack, answer, *answer.best)));
}

TEST_CASE("best set: names that are not known, and tensors that were not recorded, are mistakes") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  const auto unknown =
      find_best_set(run.session, {}, {.without = {"mixed_precison"}, .target = {}});
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().message.find("did you mean 'mixed_precision'") != std::string::npos);
  const auto nothing = find_best_set(
      run.session, test::stack_of({"scale:select='name~no_such',factor=1"}), {.target = {}});
  REQUIRE_FALSE(nothing.ok());
  CHECK(nothing.error().code == ErrorCode::no_match);
}

TEST_CASE("best set: on top of what changes nothing it is the best set of the recording") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  const BestSetQuestion question{.most_members = 1, .target = {}};
  const auto plain = find_best_set(run.session, {}, question);
  const auto same = find_best_set(run.session, test::stack_of({"scale:factor=1"}), question);
  REQUIRE(plain.ok());
  REQUIRE_MESSAGE(same.ok(), same.error().message);
  REQUIRE((plain->best && same->best));
  CHECK(same->now.step_ns == plain->now.step_ns);
  CHECK(same->best->step_ns == plain->best->step_ns);
  CHECK(same->best->choices == plain->best->choices);
}

}  // namespace foretrace
