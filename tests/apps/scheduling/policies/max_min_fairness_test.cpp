#include <doctest/doctest.h>

#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

// The largest least gain over an equal division that a grid finds for two jobs on two kinds.
double best_on_grid(const std::vector<std::vector<double>>& rates) {
  const double equal0 = (rates[0][0] + rates[0][1]) / 2;
  const double equal1 = (rates[1][0] + rates[1][1]) / 2;
  double best = 0;
  constexpr int steps = 100;
  for (int i = 0; i <= steps; ++i) {
    for (int j = 0; i + j <= steps; ++j) {
      // Job 0 has i and j hundredths of both kinds, job 1 what is left, all of its time at most.
      const double a = i / 100.0;
      const double b = j / 100.0;
      const double left_a = 1 - a;
      const double left_b = 1 - b;
      const double slow = rates[1][0] > rates[1][1] ? left_b : left_a;
      const double fast = rates[1][0] > rates[1][1] ? left_a : left_b;
      const double fast_rate = std::max(rates[1][0], rates[1][1]);
      const double slow_rate = std::min(rates[1][0], rates[1][1]);
      const double first = a * rates[0][0] + b * rates[0][1];
      const double second = fast * fast_rate + std::min(slow, 1 - fast) * slow_rate;
      best = std::max(best, std::min(first / equal0, second / equal1));
    }
  }
  return best;
}

TEST_CASE("max_min_fairness: no division on a grid gives the worst job more") {
  const std::vector<std::vector<std::vector<double>>> cases = {
      {{10, 1}, {10, 9}}, {{4, 1}, {2, 3}}, {{7, 5}, {1, 6}}, {{3, 3}, {5, 1}}};
  for (const auto& rates : cases) {
    Jobs jobs;
    jobs.nodes("a", 1, 1).nodes("b", 1, 1);
    jobs.job_of("x", 1, 100, rates[0]).job_of("y", 1, 100, rates[1]);
    const std::vector<ShareRow> rows = jobs.shares("max_min_fairness");
    REQUIRE(rows.size() == 2);
    const double worst = std::min(jobs.rate_of(rows[0]) / ((rates[0][0] + rates[0][1]) / 2),
                                  jobs.rate_of(rows[1]) / ((rates[1][0] + rates[1][1]) / 2));
    CHECK(worst >= best_on_grid(rates) - 1e-9);
    for (std::size_t k = 0; k < 2; ++k) CHECK(rows[0].share[k] + rows[1].share[k] <= 1 + 1e-9);
  }
}

TEST_CASE("max_min_fairness: jobs that are alike get equal shares") {
  Jobs jobs;
  jobs.nodes("a", 1, 1).nodes("b", 1, 2);
  for (int i = 0; i < 5; ++i) jobs.job_of("x", 1, 100, {4, 1});
  const std::vector<ShareRow> rows = jobs.shares("max_min_fairness");
  for (const ShareRow& row : rows) CHECK(row.share == rows.front().share);
}

TEST_CASE("max_min_fairness: not aware, a job on two accelerators gets half the time") {
  // 3 accelerators, jobs of 1, 2 and 2: weights are equal, so 1 accelerator's time each: 1, 1/2,
  // 1/2.
  Jobs jobs;
  jobs.nodes("a", 1, 3).job(0, 1, 100).job(0, 2, 100).job(0, 2, 100);
  const std::vector<ShareRow> rows = jobs.shares("max_min_fairness", "aware=false");
  CHECK(rows[0].share[0] == doctest::Approx(1));
  CHECK(rows[1].share[0] == doctest::Approx(0.5));
  CHECK(rows[2].share[0] == doctest::Approx(0.5));
}

TEST_CASE("max_min_fairness: two jobs take turns in rounds, a weight of two gets two of three") {
  // Rounds of 10 s on one accelerator: 0 in rounds 0, 2, 4, ...; both have 50 s to do.
  Jobs jobs;
  jobs.nodes("a", 1, 1).job(0, 1, 50).job(0, 1, 50);
  CHECK(jobs.ends("max_min_fairness", "reset='0 s'", leases(10)) == Times{90, 100});
  jobs.workload.jobs[JobId{1}].weight = 2;
  const Times ends = jobs.ends("max_min_fairness", "reset='0 s'", leases(10));
  CHECK(ends[1] <= 80);
  CHECK(ends[0] == 100);
}

}  // namespace
}  // namespace foretrace::scheduling::test
