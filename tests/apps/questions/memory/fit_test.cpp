#include "apps/questions/memory/fit.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "apps/questions/search/ranking.h"
#include "models/whatifs/what_if.h"
#include "tests/apps/questions/answers_support.h"
#include "tests/configs.h"

namespace foretrace {
namespace {

using test::Loaded;
using test::stack_of;

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

MemoryTarget size(std::int64_t bytes) {
  return {.capacity_bytes = bytes,
          .context_low_bytes = 300 * mebibyte,
          .context_high_bytes = 600 * mebibyte};
}

struct Point {
  bool is_possible = false;
  std::int64_t step_ns = 0;
  std::int64_t needed_bytes = 0;
};

/// Applies and simulates by the ways that --apply takes, not by those of the search.
Point simulated(const Loaded& run, const std::vector<WhatIf>& stack, const MemoryTarget& target) {
  const auto prediction = predict(run.recording, stack);
  if (!prediction.ok()) return {};
  const MemoryModel memory(run.recording, run.replay.run.timeline);
  const auto need = memory.need(prediction->graph, prediction->run.timeline);
  REQUIRE(need);
  return {true, prediction->run.answer.step_ns, target.needed_bytes(*need)};
}

Point simulated(const Loaded& run, const FitAnswer& answer, const FitSet& set) {
  return simulated(run, stack_of(with_set(std::span<const std::string>{}, answer, set)),
                   answer.target);
}

TEST_CASE("fit: the answer is what trying every set of the demo finds") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  const auto answer = fit_memory(run.session, {}, size(1024 * mebibyte), {.most_members = 2});
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  REQUIRE(answer->best);
  CHECK(answer->is_complete);
  CHECK_FALSE(answer->fits_now());
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  std::int64_t least = shortest;
  std::size_t fitting = 0;
  for (std::size_t i = 0; i < answer->choices.size(); ++i) {
    for (std::size_t j = i; j < answer->choices.size(); ++j) {
      const WhatIfInfo& a = *answer->choices[i].info;
      const WhatIfInfo& b = *answer->choices[j].info;
      if (i != j && (a.name == b.name || in_conflict(a, b))) continue;
      FitSet set;
      set.choices = i == j ? std::vector<std::size_t>{i} : std::vector<std::size_t>{i, j};
      const Point point = simulated(run, *answer, set);
      if (!point.is_possible) continue;
      least = std::min(least, point.needed_bytes);
      if (point.needed_bytes > 1024 * mebibyte) continue;
      ++fitting;
      shortest = std::min(shortest, point.step_ns);
    }
  }
  CHECK(fitting == answer->fitting);
  CHECK(static_cast<double>(answer->best->step_ns) <=
        static_cast<double>(shortest) * (1 + answer->tolerance));
  CHECK(answer->target.needed_bytes(answer->smallest->need) == least);
}

/// What is promised for every answer: it fits, as shown, and no single one would do in less time.
void check_answer(const Loaded& run, const FitAnswer& answer) {
  REQUIRE(answer.best);
  const Point best = simulated(run, answer, *answer.best);
  CHECK(best.is_possible);
  CHECK(best.needed_bytes <= answer.target.capacity_bytes);
  CHECK(best.needed_bytes == answer.target.needed_bytes(answer.best->need));
  CHECK(best.step_ns == answer.best->step_ns);
  for (std::size_t i = 0; i < answer.choices.size(); ++i) {
    FitSet single;
    single.choices = {i};
    const Point point = simulated(run, answer, single);
    if (!point.is_possible || point.needed_bytes > answer.target.capacity_bytes) continue;
    INFO(answer.choices[i].texts[0]);
    CHECK(static_cast<double>(best.step_ns) <=
          static_cast<double>(point.step_ns) * (1 + answer.tolerance));
  }
  for (const FitSet& next : answer.next) {
    const Point point = simulated(run, answer, next);
    CHECK(point.needed_bytes <= answer.target.capacity_bytes);
    CHECK(point.step_ns == next.step_ns);
  }
}

TEST_CASE("fit: what it answers for real recordings fits when simulated again") {
  struct Case {
    const char* trace;
    std::int64_t bytes;
  };
  for (const Case& one : {Case{"kineto_resnet50/workers0_v100", 2048 * mebibyte},
                          Case{"triosim/vgg13_h100_kineto", 40960 * mebibyte},
                          Case{"triosim/vgg13_h100_kineto", 20480 * mebibyte}}) {
    const auto run = test::loaded_real(one.trace);
    if (!run) continue;
    const auto answer = fit_memory(run->session, {}, size(one.bytes));
    REQUIRE_MESSAGE(answer.ok(), answer.error().message);
    INFO(one.trace);
    check_answer(*run, *answer);
  }
}

TEST_CASE("fit: a run that fits needs nothing, and where nothing fits the least is named") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  const auto roomy = fit_memory(run.session, {}, size(std::int64_t{80} << 30));
  REQUIRE(roomy.ok());
  CHECK(roomy->fits_now());
  CHECK_FALSE(roomy->best);
  const auto tight = fit_memory(run.session, {}, size(610 * mebibyte));
  REQUIRE(tight.ok());
  CHECK_FALSE(tight->best);
  REQUIRE(tight->smallest);
  for (const FitSet& single : tight->singles) {
    CHECK(tight->target.needed_bytes(tight->smallest->need) <=
          tight->target.needed_bytes(single.need));
  }
}

TEST_CASE("fit: what is applied already stays, and its conflicts and settings are no choices") {
  const Loaded run = test::loaded(test::demo_memory_trace);
  const std::vector<std::string> texts = {"eight_bit_optimizer"};
  const std::vector<WhatIf> stack = stack_of(texts);
  const auto answer = fit_memory(run.session, stack, size(1024 * mebibyte), {.most_members = 2});
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  for (const WhatIfChoice& choice : answer->choices) {
    CHECK(choice.info->name != "eight_bit_optimizer");
    CHECK(choice.info->name != "optimizer_offload");  // declares the conflict
  }
  REQUIRE(answer->best);
  const auto all = with_set(texts, *answer, *answer->best);
  CHECK(std::count(all.begin(), all.end(), "eight_bit_optimizer") == 1);
  CHECK(simulated(run, stack_of(all), answer->target).step_ns == answer->best->step_ns);
  // What changes the workload comes before it, what moves tensors after it.
  FitSet set;
  for (std::size_t i = 0; i < answer->choices.size(); ++i) {
    if (answer->choices[i].texts.size() == 2 && set.choices.empty()) set.choices = {i};
  }
  REQUIRE(set.choices.size() == 1);
  const auto ordered = with_set(std::span<const WhatIf>(stack), *answer, set);
  REQUIRE(ordered.size() == 3);
  CHECK(ordered[0].info->name == "batch_size");
  CHECK(ordered[1].info->name == "eight_bit_optimizer");
  CHECK(ordered[2].info->name == "gradient_accumulation");
}

TEST_CASE("fit: a recording without memory, a size that is none, an accelerator by name") {
  const Loaded run = test::loaded(FORETRACE_SOURCE_DIR "/tests/fixtures/kineto_json/rocm.json");
  const auto answer = fit_memory(run.session, {}, size(mebibyte));
  REQUIRE_FALSE(answer.ok());
  CHECK(answer.error().message.find("profile_memory=True") != std::string::npos);
  CHECK(parse_target(*test::shipped(), "24 GiB", std::nullopt)->capacity_bytes == std::int64_t{24}
                                                                                      << 30);
  CHECK(parse_target(*test::shipped(), "24GiB", std::nullopt)->capacity_bytes == std::int64_t{24}
                                                                                     << 30);
  const auto named = parse_target(*test::shipped(), "rtx_4090", std::nullopt);
  REQUIRE(named.ok());
  CHECK(named->name == "rtx_4090");
  CHECK(named->context_high_bytes > named->context_low_bytes);
  for (const char* wrong :
       {"", "24", "-1 GiB", "0 GiB", "nan GiB", "1e300 GiB", "rtx_409", "GiB"}) {
    const auto refused = parse_target(*test::shipped(), wrong, std::nullopt);
    INFO(wrong);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::bad_usage);
    CHECK(refused.error().message.find("24 GiB") != std::string::npos);
  }
  CHECK(
      parse_target(*test::shipped(), "rtx_409", std::nullopt).error().message.find("'rtx_4090'") !=
      std::string::npos);
}

TEST_CASE("fit: settings and conflicts that what-ifs declare are right") {
  for (const WhatIfInfo* const info : what_ifs::all()) {
    INFO(info->name);
    for (const std::string_view other : info->conflicts) {
      CHECK(find_what_if(other).ok());
      CHECK(other != info->name);
    }
    for (const std::string_view setting : info->memory_settings) {
      std::string text = std::string(info->name) + ":" + std::string(setting);
      const std::size_t cut = text.find(';');
      CHECK(stack_of({text.substr(0, cut)}).size() == 1);
      if (cut != std::string::npos) CHECK(stack_of({text.substr(cut + 1)}).size() == 1);
    }
  }
}

}  // namespace
}  // namespace foretrace
