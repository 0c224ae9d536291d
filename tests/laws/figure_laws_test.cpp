// No figure is impossible: random jobs on machines with extreme rates, by formula and by events.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include "apps/plans/plan_search.h"
#include "models/jobs/figures/scenario_answer.h"
#include "sim/core/whole.h"
#include "tests/laws/support/random_draws.h"
#include "tests/laws/support/random_job.h"

namespace foretrace {
namespace {

/// A power of ten, mostly 1, in some cases far out.
double extreme(test::Draws& draws) {
  if (draws.chance(0.6)) return 1;
  const double exponents = draws.chance(0.5) ? 20 : 300;
  return std::pow(10, (2 * draws.unit() - 1) * exponents);
}

/// Any rate of the machine may be next to 0 or beyond all bounds.
Cluster extreme_cluster(Cluster cluster, test::Draws& draws) {
  Accelerator& accelerator = cluster.accelerator;
  for (std::size_t i = 0; i < accelerator.peak_flops.size(); ++i) {
    const double factor = extreme(draws);
    accelerator.peak_flops[i] *= factor;
    accelerator.sustained_flops[i] *= factor;
  }
  accelerator.vector_fp32_flops *= extreme(draws);
  accelerator.memory_bandwidth *= extreme(draws);
  cluster.link_bandwidth *= extreme(draws);
  cluster.link_latency_ns *= extreme(draws);
  cluster.host_link_bandwidth *= extreme(draws);
  for (LocalRegime& regime : cluster.regimes) {
    regime.bandwidth *= extreme(draws);
    regime.fixed_ns *= extreme(draws);
  }
  cluster.network.nic_bandwidth *= extreme(draws);
  cluster.network.step_latency_ns *= extreme(draws);
  if (draws.chance(0.1)) cluster.network.nics = 0;
  for (Tier& tier : cluster.tier_network.tiers) {
    tier.bandwidth *= extreme(draws);
    tier.latency_ns *= extreme(draws);
  }
  if (draws.chance(0.5)) cluster.curves.clear();
  return cluster;
}

bool is_amount(double value) { return value >= 0 && fits_whole(value); }

void check_breakdown(const StepBreakdown& parts, std::int64_t step_ns) {
  for (const double part : parts.computed) CHECK(is_amount(part));
  for (const double part : parts.exposed) CHECK(is_amount(part));
  CHECK(is_amount(parts.bubble));
  CHECK(is_amount(parts.optimizer));
  CHECK(is_amount(parts.host));
  const auto step = static_cast<double>(step_ns);
  CHECK(std::abs(parts.total() - step) <= 1 + 1e-9 * step);
}

void check_figures(const JobFigures& figures) {
  CHECK(figures.flops_utilization.value_or(0) >= 0);
  CHECK(figures.flops_utilization.value_or(0) <= 1);
  CHECK(figures.tokens_per_s > 0);
  CHECK(std::isfinite(figures.tokens_per_s));
  CHECK(figures.cost_per_million_tokens >= 0);
  CHECK(std::isfinite(figures.cost_per_million_tokens));
}

/// A utilization above 1 is not shown: on a GPU of the catalogue there is none to hide.
void check_utilization(const Job& job, const ScenarioAnswer& answer) {
  if (job.cluster->accelerator.exec_model != nullptr || !(answer.model_flops > 0)) return;
  CAPTURE(to_string(job.precisions.activations));
  CAPTURE(job.cluster->name);
  CHECK(answer.figures.flops_utilization.has_value());
}

void check_answer(const ScenarioAnswer& answer) {
  CHECK(answer.step_ns > 0);
  CHECK(answer.analytic.step_ns > 0);
  CHECK(answer.range.low_ns >= 0);
  CHECK(answer.range.low_ns <= answer.range.step_ns);
  CHECK(answer.range.step_ns <= answer.range.high_ns);
  CHECK(answer.range.high_ns < most_whole);
  check_breakdown(answer.analytic.breakdown, answer.analytic.step_ns);
  for (const StageMemory& stage : answer.analytic.memory) CHECK(is_amount(stage.total()));
  for (const DeviceMemory& memory : answer.memories) CHECK(is_amount(memory.need));
  for (const double part : answer.analytic.by_provenance) CHECK(is_amount(part));
  CHECK(is_amount(answer.analytic.again_ns));
  CHECK(is_amount(answer.analytic.overlapped_ns));
  check_figures(answer.figures);
}

/// One line that says something.
void check_error(const Error& error) {
  CHECK_FALSE(error.message.empty());
  CHECK(error.message.find('\n') == std::string::npos);
  CHECK(error.message.find("expected") != std::string::npos);
}

TEST_CASE("jobs: an answer has possible figures, or it is one line of error") {
  test::RandomJobs jobs;
  int errors = 0;
  int answers = 0;
  for (std::uint64_t number = 0; number < test::law_jobs(300); ++number) {
    test::RandomJob drawn = jobs.draw(number);
    CAPTURE(drawn.text);
    CAPTURE(number);
    test::Draws draws(number);
    const Cluster cluster = extreme_cluster(*drawn.scenario.job.cluster, draws);
    if (number % 2 == 1) drawn.scenario.job.cluster = &cluster;
    if (drawn.scenario.job.micro_batches() > 512) continue;
    const auto answer = answer_scenario(drawn.scenario);
    if (answer.ok()) {
      ++answers;
      check_answer(*answer);
      if (number % 2 == 0) check_utilization(drawn.scenario.job, *answer);
    } else {
      ++errors;
      CHECK(number % 2 == 1);
      check_error(answer.error());
    }
  }
  CHECK(answers > 100);
  CHECK(errors > 5);
}

TEST_CASE("jobs: plans have possible figures, or there is one line of error") {
  test::RandomJobs jobs;
  int answers = 0;
  for (std::uint64_t number = 0; number < test::law_jobs(300) / 6; ++number) {
    test::RandomJob drawn = jobs.draw(number);
    const Job& job = drawn.scenario.job;
    if (job.model->is_recorded()) continue;
    CAPTURE(drawn.text);
    test::Draws draws(number);
    PlanQuestion question;
    question.scenario = drawn.scenario;
    question.scenario.job.stages.clear();
    if (number % 2 == 1) {
      question.scenario.cluster =
          std::make_shared<const Cluster>(extreme_cluster(*drawn.scenario.job.cluster, draws));
    }
    question.gpus = std::min(job.cluster->accelerators(), draws.within(1, 16));
    question.global_batch = question.gpus * draws.within(1, 4);
    question.keep = 2;
    const auto plans = search_plans(question);
    if (!plans.ok()) {
      check_error(plans.error());
      continue;
    }
    ++answers;
    for (const PlanChoice& choice : plans->best) {
      CHECK(choice.step_ns > 0);
      CHECK(choice.low_ns >= 0);
      CHECK(choice.low_ns <= choice.step_ns);
      CHECK(choice.step_ns <= choice.high_ns);
      CHECK(is_amount(choice.memory_bytes));
      check_breakdown(choice.breakdown, choice.step_ns);
      check_figures(choice.figures);
    }
  }
  CHECK(answers > 5);
}

}  // namespace
}  // namespace foretrace
