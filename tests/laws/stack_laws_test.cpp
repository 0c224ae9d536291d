// Stacks of what-ifs with their example settings, on recordings and modelled jobs: every two, and
// four at random. FORETRACE_LAW_STACKS=1000 tries every two on every run.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "apps/session/recording/modelled.h"
#include "models/jobs/scenario/scenario.h"
#include "models/whatifs/what_if.h"
#include "models/whatifs/what_if_spec.h"
#include "tests/configs.h"
#include "tests/laws/identity_settings.h"
#include "tests/laws/support/random_draws.h"
#include "tests/laws/support/stacks.h"

using namespace foretrace;
using foretrace::test::Draws;
using foretrace::test::StackedRun;
using foretrace::test::StackOutcome;

namespace {

StackedRun opened(const std::vector<std::string>& run) {
  auto session = open(run, {.load = {.catalogue = test::shipped()}});
  REQUIRE_MESSAGE(session.ok(), session.error().message);
  return StackedRun(*std::move(session));
}

bool go_together(const std::vector<WhatIf>& stack) {
  for (std::size_t i = 0; i < stack.size(); ++i) {
    for (std::size_t j = i + 1; j < stack.size(); ++j) {
      if (stack[i].info == stack[j].info || in_conflict(*stack[i].info, *stack[j].info)) {
        return false;
      }
    }
  }
  return true;
}

using Stacks = std::vector<std::vector<std::size_t>>;

/// Of `size` what-ifs each, that go together; `count` of them, or all there are.
Stacks drawn(const StackedRun& run, std::size_t size, std::size_t count, std::uint64_t seed) {
  Stacks all;
  const std::size_t there = run.what_ifs().size();
  const auto add = [&](std::vector<std::size_t> stack) {
    std::vector<WhatIf> what_ifs;
    for (const std::size_t at : stack) what_ifs.push_back(run.what_ifs()[at]);
    if (go_together(what_ifs)) all.push_back(std::move(stack));
  };
  Draws draws(seed);
  if (size == 2) {
    for (std::size_t i = 0; i < there; ++i) {
      for (std::size_t j = i + 1; j < there; ++j) add({i, j});
    }
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      std::swap(all[i], all[draws.within(static_cast<std::uint32_t>(i),
                                         static_cast<std::uint32_t>(all.size() - 1))]);
    }
    if (all.size() > count) all.resize(count);
    return all;
  }
  for (std::size_t tries = 0; there >= size && all.size() < count && tries < 20 * count; ++tries) {
    std::set<std::size_t> stack;
    while (stack.size() < size) {
      stack.insert(draws.within(0, static_cast<std::uint32_t>(there - 1)));
    }
    add({stack.begin(), stack.end()});
  }
  return all;
}

std::vector<WhatIf> stack_of(const StackedRun& run, std::span<const std::size_t> at) {
  std::vector<WhatIf> stack;
  for (const std::size_t one : at) stack.push_back(run.what_ifs()[one]);
  return stack;
}

bool spreads(const WhatIf& what_if) { return what_if.info->change_job != nullptr; }

/// The setting of this what-if that leaves what the stack makes of the run as it is, if there is.
std::optional<WhatIf> identity_behind(const StackedRun& run, const std::vector<WhatIf>& stack,
                                      const WhatIfInfo& info) {
  const Recording& recording = run.session().recording();
  if (recording.modelled == nullptr) {
    return test::identity_of(info, run.session().graph(),
                             recording.accelerator ? &*recording.accelerator : nullptr);
  }
  if (info.change_job != nullptr) {
    const auto own = parse_what_if(
        fmt::format("{}:data={}", info.name, recording.modelled->scenario->job.plan.data));
    REQUIRE_MESSAGE(own.ok(), own.error().message);
    auto what_if = check_what_if(*own);
    REQUIRE_MESSAGE(what_if.ok(), what_if.error().message);
    return *std::move(what_if);
  }
  // A job that is spread may be on another machine, and of other ranks.
  const bool is_spread = std::any_of(stack.begin(), stack.end(), spreads);
  const bool names_run = info.identity.setting.find('{') != std::string_view::npos;
  if (is_spread && names_run) return std::nullopt;
  return test::identity_of(info, run.session().graph(), &*recording.accelerator);
}

/// The identity of a what-if that is not in the stack changes nothing of what the stack makes.
void check_identity(const StackedRun& run, std::vector<WhatIf> stack, const StackOutcome& outcome,
                    Draws& draws) {
  const auto all = what_ifs::all();
  const WhatIfInfo& info = *all[draws.within(0, static_cast<std::uint32_t>(all.size() - 1))];
  const auto identity = identity_behind(run, stack, info);
  if (!identity) return;
  stack.push_back(*identity);
  if (!go_together(stack)) return;
  const std::string names = test::names_of(stack);
  CAPTURE(names);
  const auto with = run.outcome_of(stack);
  if (!with) return;
  CHECK(with->time == doctest::Approx(outcome.time).epsilon(1e-9));
  CHECK(with->live_bytes == outcome.live_bytes);
}

/// What is done on a faster host, or by faster kernels, takes no longer, but for who waits for whom:
/// then the order of work may turn against it.
void check_faster(const StackedRun& run, const std::vector<WhatIf>& stack,
                  const StackOutcome& outcome) {
  for (const char* faster : {"host_upgrade:speed=2", "scale:select='kind=kernel',factor=0.5"}) {
    const auto spec = parse_what_if(faster);
    REQUIRE_MESSAGE(spec.ok(), spec.error().message);
    const auto what_if = check_what_if(*spec);
    REQUIRE_MESSAGE(what_if.ok(), what_if.error().message);
    std::vector<WhatIf> more = stack;
    more.push_back(*what_if);
    if (!go_together(more)) continue;
    const std::string names = test::names_of(more);
    CAPTURE(names);
    // A median of few steps is another one where a wait moves from step to step.
    if (const auto with = run.outcome_of(more)) CHECK(with->span <= 1.06 * outcome.span);
  }
}

/// Behind or before these, others gain less, for the reason that stands here.
struct Spoils {
  std::string_view name;
  bool time = false;
  bool memory = false;
  std::string_view because;
};
constexpr std::array spoils = {
    Spoils{"offload_pattern", true, true,
           "factors match no pattern and stay here; a region hides who stands beside a batch norm"},
    Spoils{"attention_backend", true, false,
           "it takes the operators that fusion would make cheaper yet"},
    Spoils{"activation_checkpointing", false, true,
           "products that became one are made again as one, with all that they make"},
    Spoils{"async_checkpoint", false, true,
           "who waits for a copy moves when gathered weights of a sharded job are freed"},
    Spoils{"mu_two", false, true, "what lives at once depends on which half of the models is slow"},
    Spoils{"cuda_graph", false, true,
           "what a graph allocates stays allocated, whoever frees the rest"},
    Spoils{"fusion_aware_checkpointing", false, true,
           "the cut is chosen anew; casts and other devices hide who reads a map"},
    Spoils{"parallel", false, true, "shards are buckets of a few layers, whatever these hold"},
    Spoils{"nm_sparsity", false, true, "masks are kept beside what they shrink"},
};

bool is_spoilt(const std::vector<WhatIf>& stack, bool memory) {
  return std::any_of(stack.begin(), stack.end(), [&](const WhatIf& one) {
    return std::any_of(spoils.begin(), spoils.end(), [&](const Spoils& by) {
      return by.name == one.info->name && (memory ? by.memory : by.time);
    });
  });
}

/// How often a stack's time was held against that of a smaller one, and how often closely: what-ifs
/// that add much bound little.
struct Kept {
  std::size_t times = 0;
  std::size_t closely = 0;
};

/// What a stack gained stays, if one more what-if comes that alone loses nothing, but for what that
/// adds: copies and codecs take as long as before where what hid them is shorter.
void check_kept(const StackedRun& run, std::span<const std::size_t> of, const StackOutcome& all,
                Kept& kept) {
  const std::vector<WhatIf> stack = stack_of(run, of);
  for (std::size_t left = 0; left < of.size(); ++left) {
    const StackOutcome& alone = run.alone(of[left]);
    std::vector<std::size_t> others(of.begin(), of.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left));
    const auto before = others.size() == 1 ? std::optional(run.alone(others.front()))
                                           : run.outcome_of(stack_of(run, others));
    if (!before) continue;
    const std::string names = fmt::format("{} after {}", run.what_ifs()[of[left]].info->name,
                                          test::names_of(stack_of(run, others)));
    CAPTURE(names);
    if (!is_spoilt(stack, false) && alone.work <= 1) {
      CHECK(all.work <= 1.05 * before->work + alone.more_work);
      if (alone.span <= 1) {
        CHECK(all.span <= 1.1 * before->span + alone.more_time);
        ++kept.times;
        kept.closely += alone.more_time <= 0.1 ? 1 : 0;
      }
    }
    if (!is_spoilt(stack, true) && alone.live_bytes &&
        *alone.live_bytes <= *run.as_it_is().live_bytes) {
      CHECK(static_cast<double>(*all.live_bytes) <=
            1.05 * static_cast<double>(*before->live_bytes));
    }
  }
}

void check_stacks(const std::vector<std::string>& files, std::size_t size, std::size_t count) {
  CAPTURE(files.front());
  const StackedRun run = opened(files);
  CHECK(run.what_ifs().size() >= 10);
  Draws draws(size);
  std::size_t answers = 0;
  Kept kept;
  const Stacks stacks = drawn(run, size, count, size);
  for (const auto& at : stacks) {
    const std::vector<WhatIf> stack = stack_of(run, at);
    const std::string names = test::names_of(stack);
    CAPTURE(names);
    const auto outcome = run.outcome_of(stack);
    if (!outcome) continue;
    ++answers;
    check_identity(run, stack, *outcome, draws);
    check_faster(run, stack, *outcome);
    check_kept(run, at, *outcome, kept);
  }
  CHECK_FALSE(stacks.empty());
  CHECK(4 * answers >= stacks.size());
  CHECK(2 * kept.closely >= kept.times);
}

}  // namespace

TEST_CASE("stacks: every two what-ifs on recordings obey the laws of one run") {
  const auto runs = test::stacked_recordings();
  CHECK(runs.size() >= 9);
  for (const auto& run : runs) check_stacks(run, 2, test::law_stacks(6));
}

TEST_CASE("stacks: every two what-ifs on modelled jobs obey the laws of one run") {
  for (const auto& run : test::stacked_jobs()) check_stacks(run, 2, test::law_stacks(4));
}

TEST_CASE("stacks: four what-ifs on recordings obey the laws of one run") {
  for (const auto& run : test::stacked_recordings()) check_stacks(run, 4, test::law_stacks(3));
}

TEST_CASE("stacks: four what-ifs on modelled jobs obey the laws of one run") {
  for (const auto& run : test::stacked_jobs()) check_stacks(run, 4, test::law_stacks(2));
}
