// Laws of plans, on random models, machines and sizes: what is listed is what the same plan is when
// it is asked about alone.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "apps/plans/plan_search.h"
#include "models/jobs/figures/open_choices.h"
#include "models/jobs/figures/scenario_answer.h"
#include "models/jobs/program/estimate.h"
#include "models/jobs/program/job_figures.h"
#include "models/jobs/program/ranged_step.h"
#include "models/jobs/scenario/scenario_text.h"
#include "tests/laws/support/random_draws.h"
#include "tests/laws/support/random_job.h"

namespace foretrace {
namespace {

/// What a random job computes, and where, to be planned anew.
PlanQuestion question_about(const test::RandomJob& drawn) {
  test::Draws draws(drawn.number);
  PlanQuestion question;
  question.scenario = drawn.scenario;
  Job& job = question.scenario.job;
  job.pass = Pass::training;
  job.keys = job.length;
  job.sparse_gradients.reset();
  const auto wanted = draws.one_of<std::uint32_t>({1, 2, 4, 8, 8, 16, 16, 32, 48, 64, 128, 256});
  question.gpus = std::min(wanted, job.cluster->accelerators());
  question.global_batch = question.gpus * draws.one_of<double>({1, 1, 2, 4, 8, 32});
  question.keep = 3;
  return question;
}

// As `plan` says it and as `simulate` says it of the written file.
void check_written(const PlanChoice& choice, const test::RandomJob& drawn, test::RandomJobs& jobs) {
  const std::string text = scenario_text(choice.job, drawn.names);
  const auto scenario = jobs.parsed(text);
  REQUIRE_MESSAGE(scenario.ok(), text << (scenario.ok() ? "" : scenario.error().message));
  const auto answer = answer_scenario(*scenario);
  REQUIRE(answer.ok());
  const auto planned = static_cast<double>(choice.step_ns);
  CHECK_MESSAGE(std::abs(static_cast<double>(answer->step_ns) / planned - 1) < 0.01, text);
  CHECK_MESSAGE(answer->range.low_ns <= answer->step_ns, text);
  CHECK_MESSAGE(answer->step_ns <= answer->range.high_ns, text);
  // Neither end is faster than the units at their peaks, where a machine keeps these.
  const JobFigures fastest =
      job_figures(scenario->job, answer->range.low_ns, amounts_of(scenario->job));
  const bool is_possible =
      fastest.flops_utilization.has_value() == answer->figures.flops_utilization.has_value();
  CHECK_MESSAGE((is_possible || !keeps_peaks(scenario->job)), text);
  CHECK_MESSAGE(choice.low_ns <= choice.step_ns, text);
  CHECK_MESSAGE(choice.step_ns <= choice.high_ns, text);
  CHECK_MESSAGE(answer->fits, text);
  CHECK_MESSAGE(std::abs(answer->fullest().total() / choice.memory_bytes - 1) < 0.01, text);
}

// Of a plan that may be shown without its range.
void check_listed(const PlanChoice& choice) {
  const auto alone = estimate(choice.job);
  REQUIRE(alone.ok());
  CHECK(choice.formula_ns == alone->step_ns);
  CHECK(choice.formula_ns <= choice.step_ns);
  CHECK(choice.memory_bytes == alone->memory[fullest_stage(alone->memory)].total());
}

TEST_CASE("jobs: a plan takes the step and the memory that its own scenario is simulated to take") {
  test::RandomJobs jobs;
  std::size_t answered = 0;
  const std::uint64_t questions = test::law_jobs(24, 100);
  for (std::uint64_t number = 0; number < questions; ++number) {
    CAPTURE(number);
    const test::RandomJob drawn = jobs.draw(number);
    const PlanQuestion question = question_about(drawn);
    const auto answer = search_plans(question);
    if (!answer.ok() || answer->best.empty()) continue;
    ++answered;
    for (const PlanChoice& choice : answer->best) {
      check_listed(choice);
      check_written(choice, drawn, jobs);
      CHECK(answer->best.front().step_ns <= choice.step_ns);
    }
    for (const LosingGrid& grid : answer->losing) {
      check_listed(grid.choice);
      CHECK((!grid.fits || answer->best.back().step_ns <= grid.choice.step_ns));
    }
  }
  CHECK(answered * 2 >= questions);
}

// What is printed has its range put around the simulated step, which it holds whatever was wrong.
// The formula's own range may fail to: it stands for how far the formula is off, waiting included.
TEST_CASE("jobs: the range of the formula alone holds most steps that it does not know exactly") {
  test::RandomJobs jobs;
  int others = 0;
  int inside = 0;
  for (std::uint64_t number = 0; number < test::law_jobs(1500); ++number) {
    const test::RandomJob drawn = jobs.draw(number);
    const Job& job = drawn.scenario.job;
    if (job.plan.pipeline == 1) continue;
    CAPTURE(drawn.text);
    const auto answer = answer_scenario(drawn.scenario);
    const auto formula = ranged_step(job);
    REQUIRE(answer.ok());
    REQUIRE(formula.ok());
    if (answer->step_ns == formula->step_ns) continue;
    ++others;
    inside += formula->low_ns <= answer->step_ns && answer->step_ns <= formula->high_ns ? 1 : 0;
  }
  MESSAGE(inside << " of " << others << " simulated steps are in the range of the formula");
  CHECK(others > 30);
  CHECK(inside >= 0.95 * others);
}

TEST_CASE("jobs: what a plan leaves open is what is simulated to be fastest") {
  test::RandomJobs jobs;
  int compared = 0;
  for (std::uint64_t number = 0; number < test::law_jobs(600); ++number) {
    const test::RandomJob drawn = jobs.draw(number);
    const Job& job = drawn.scenario.job;
    if (job.plan.pipeline == 1 || !job.stages.empty()) continue;
    CAPTURE(drawn.text);
    const std::vector<double> micros = {1, 2, 4};
    const std::vector<std::uint32_t> chunks = {1, 2, 3, 4};
    const auto chosen = fastest_choice(drawn.scenario, {micros, chunks, {}, 0});
    if (!chosen.ok()) continue;
    const auto best = answer_scenario(*chosen);
    REQUIRE(best.ok());
    for (const double micro : micros) {
      for (const std::uint32_t pieces : chunks) {
        const auto one = fastest_choice(drawn.scenario, {{micro}, {pieces}, {}, 0});
        if (!one.ok()) continue;
        const auto answer = answer_scenario(*one);
        REQUIRE(answer.ok());
        ++compared;
        CHECK(best->step_ns <= answer->step_ns);
      }
    }
  }
  CHECK(compared > 100);
}

}  // namespace
}  // namespace foretrace
