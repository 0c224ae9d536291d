#include "apps/questions/memory/memory_budget.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "apps/questions/memory/fit.h"
#include "apps/session/recording/load.h"
#include "apps/session/replay/memory_need.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/engine/pull/pull.h"
#include "tests/apps/questions/answers_support.h"
#include "tests/configs.h"

namespace foretrace {
namespace {

// Four maps of 4 MiB on top of 16 MiB that are there before; kernels of 190 and 390 us.
const Recording& chain() {
  static const Recording recording = [] {
    auto loaded = load(FORETRACE_SOURCE_DIR "/tests/golden/simulate_in_a_memory_budget/trace.json");
    REQUIRE_MESSAGE(loaded.ok(), loaded.error().message);
    return *std::move(loaded);
  }();
  return recording;
}

BudgetAnswer ask(const char* size, const char* when_full) {
  const auto bytes = parse_budget_size(size);
  REQUIRE_MESSAGE(bytes.ok(), bytes.error().message);
  auto choice = parse_when_full(when_full);
  REQUIRE_MESSAGE(choice.ok(), choice.error().message);
  auto answer = run_in_budget(chain().graph(), {*bytes, *std::move(choice)}, {});
  REQUIRE_MESSAGE(answer.ok(), answer.error().message);
  return *std::move(answer);
}

TEST_CASE("memory budget: what fits takes as long as without a budget") {
  const BudgetAnswer answer = ask("32 MiB", "fail");
  CHECK(answer.fits);
  CHECK(!answer.is_needed);
  CHECK(answer.step_before_ns == answer.step_after_ns);
  REQUIRE(answer.devices.size() == 1);
  CHECK(answer.devices[0].free_peak_bytes == 32 << 20);
  CHECK(answer.devices[0].base_bytes == 16 << 20);
}

TEST_CASE("memory budget: a size is counted as --fit counts it") {
  BudgetQuestion question{*parse_budget_size("1 GiB"), *parse_when_full("dtr")};
  const Session session = *Session::of(chain());
  REQUIRE(count_overhead(session, question).ok());
  const auto need = session.need();
  const auto target = parse_target(*test::shipped(), "1 GiB", chain().accelerator);
  REQUIRE(need);
  REQUIRE(target.ok());
  CHECK(question.overhead_bytes == target->needed_bytes(*need) - need->live_bytes);
  CHECK(question.overhead_bytes > std::int64_t{300} << 20);  // a context at least

  // One map less than there are, beside the overhead.
  question.size.bytes = question.overhead_bytes + (28 << 20);
  const auto answer = run_in_budget(chain().graph(), question, {});
  REQUIRE(answer.ok());
  CHECK(answer->fits);
  CHECK(answer->counts.recomputed_kernels == 2);
  CHECK(answer->devices[0].budget_bytes == question.size.bytes);
  CHECK(answer->devices[0].peak_bytes == 28 << 20);
  // The context alone is more than this.
  question.size.bytes = 64 << 20;
  const auto tight = run_in_budget(chain().graph(), question, {});
  REQUIRE(tight.ok());
  CHECK_FALSE(tight->fits);
}

TEST_CASE("memory budget: --fit tries what --when-full tries, with the same figures") {
  const test::Loaded run =
      test::loaded(FORETRACE_SOURCE_DIR "/tests/golden/simulate_in_a_memory_budget/trace.json");
  BudgetQuestion question{*parse_budget_size("1 GiB"), *parse_when_full("dtr")};
  REQUIRE(count_overhead(run.session, question).ok());
  question.size.bytes = question.overhead_bytes + (28 << 20);
  auto target = parse_target(*test::shipped(), "1 GiB", run.recording.accelerator);
  REQUIRE(target.ok());
  target->capacity_bytes = question.size.bytes;
  const auto fit = fit_memory(run.session, {}, *target, {.most_members = 1});
  REQUIRE_MESSAGE(fit.ok(), fit.error().message);
  CHECK_FALSE(fit->fits_now());
  CHECK(fit->policies.size() == policies::all().size() + 1);  // waiting is the other
  const auto budget = run_in_budget(run.recording.graph(), question, {});
  REQUIRE(budget.ok());
  const auto dtr = std::find_if(fit->policies.begin(), fit->policies.end(),
                                [](const BudgetTry& tried) { return tried.name == "dtr"; });
  REQUIRE(dtr != fit->policies.end());
  CHECK(dtr->fits);
  CHECK(dtr->step_ns == budget->step_after_ns);
}

TEST_CASE("memory budget: a share is of the peak of the run without a budget") {
  CHECK(ask("87.5 %", "dtr").devices[0].budget_bytes == 28 << 20);
}

TEST_CASE("memory budget: one map too many costs one kernel per step") {
  const BudgetAnswer answer = ask("28 MiB", "dtr");
  REQUIRE(answer.fits);
  CHECK(answer.is_needed);
  CHECK(answer.counts.recomputed_kernels == 2);
  CHECK(answer.counts.recomputed_ns == 2 * 190000);
  CHECK(answer.devices[0].peak_bytes == 28 << 20);
  CHECK(answer.span_after_ns > answer.span_before_ns);
}

TEST_CASE("memory budget: what does not fit names the request, and what would do") {
  const BudgetAnswer answer = ask("28 MiB", "fail");
  REQUIRE(!answer.fits);
  REQUIRE(answer.stop);
  CHECK(answer.stop->operator_name == "aten::mm");
  CHECK(answer.stop->phase == Phase::forward);
  CHECK(answer.stop->pressure.missing_bytes == 4 << 20);
  REQUIRE(answer.remedies.size() == policies::all().size() + 1);
  CHECK(answer.remedies.front().fits);
  CHECK(answer.remedies.front().step_ns > answer.step_before_ns);
  // Nobody else frees, so waiting is no way out: it comes last.
  CHECK(answer.remedies.back().name == "block");
  CHECK(!answer.remedies.back().fits);
}

TEST_CASE("memory budget: where nothing helps a budget is found that does") {
  // The map that is made and two of the size of an operator's inputs are in use together.
  const BudgetAnswer answer = ask("22 MiB", "dtr");
  REQUIRE(!answer.fits);
  CHECK(answer.enough_with == "dtr");
  CHECK(answer.enough_bytes >= 28 << 20);
  CHECK(answer.enough_bytes < 29 << 20);
}

TEST_CASE("memory budget: a size counts what the driver takes, and what is named as enough is") {
  const std::int64_t overhead = 100 << 20;
  const auto within = [&](std::int64_t bytes) {
    auto choice = parse_when_full("dtr");
    REQUIRE(choice.ok());
    auto answer =
        run_in_budget(chain().graph(), {{.bytes = bytes}, *std::move(choice), overhead}, {});
    REQUIRE(answer.ok());
    return *std::move(answer);
  };
  const BudgetAnswer little = within(overhead + (22 << 20));
  REQUIRE(!little.fits);
  CHECK(little.devices[0].budget_bytes == overhead + (22 << 20));
  CHECK(little.enough_bytes > overhead + (27 << 20));
  CHECK(within(little.enough_bytes).fits);
}

TEST_CASE("memory budget: what the command line cannot mean is refused in one line") {
  CHECK(parse_budget_size("6").error().message.find("without a unit") != std::string::npos);
  CHECK(!parse_budget_size("0 %").ok());
  CHECK(!parse_budget_size("-1 GiB").ok());
  CHECK(!parse_budget_size("%").ok());
  CHECK(parse_when_full("dtrr").error().message.find("did you mean 'dtr'") != std::string::npos);
  CHECK(parse_when_full("dtr:heuristic=best").error().message.find("expected one of full") !=
        std::string::npos);
  CHECK(!parse_when_full("block:a=1").ok());
}

TEST_CASE("memory budget: a trace without memory is refused") {
  const auto demo = load(FORETRACE_SOURCE_DIR "/tests/fixtures/kineto_json/rocm.json");
  REQUIRE(demo.ok());
  auto choice = parse_when_full("fail");
  REQUIRE(choice.ok());
  const auto answer = run_in_budget(demo->graph(), {{.bytes = 1 << 30}, *std::move(choice)}, {});
  REQUIRE(!answer.ok());
  CHECK(answer.error().message.find("neither device memory nor tensor shapes") !=
        std::string::npos);
}

TEST_CASE("memory budget: a trace without what operators read is refused by the policies") {
  const auto run = test::loaded_real("hta/mem_2rank_v100_rank1");
  if (!run) return;
  const auto asked = [&](const char* size, const char* when_full) {
    auto choice = parse_when_full(when_full);
    REQUIRE(choice.ok());
    return run_in_budget(run->recording.graph(), {*parse_budget_size(size), *std::move(choice)},
                         {});
  };
  for (const char* const policy : {"dtr", "dtr:backward=true", "delta"}) {
    const auto refused = asked("90 %", policy);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::unsupported);
    CHECK(refused.error().message.find("record_shapes=True") != std::string::npos);
  }
  // Without need of them they are not asked, and as remedies they are left out.
  const auto roomy = asked("100 %", "dtr");
  REQUIRE(roomy.ok());
  CHECK(roomy->fits);
  const auto stopped = asked("90 %", "fail");
  REQUIRE(stopped.ok());
  REQUIRE(stopped->remedies.size() == 1);
  CHECK(stopped->remedies[0].name == "block");
  CHECK(stopped->enough_with == "block");
  CHECK(stopped->enough_bytes <= stopped->devices[0].free_peak_bytes);
}

}  // namespace
}  // namespace foretrace
