#include <doctest/doctest.h>

#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("finish_time_fairness: finish times over those of an equal division are equal") {
  // Two kinds, three jobs of different length: at the optimum nobody could gain without another's
  // loss.
  Jobs jobs;
  jobs.nodes("a", 1, 1).nodes("b", 1, 1);
  jobs.job_of("x", 1, 1000, {4, 1}).job_of("y", 1, 500, {2, 2}).job_of("z", 1, 3000, {3, 1});
  const std::vector<ShareRow> rows = jobs.shares("finish_time_fairness");
  // Alone: a third of both kinds each.
  const double alone[] = {1000 / (5.0 / 3), 500 / (4.0 / 3), 3000 / (4.0 / 3)};
  double ratios[3];
  for (std::size_t j = 0; j < 3; ++j) {
    ratios[j] = jobs.workload.jobs[make_id<JobId>(j)].steps() / jobs.rate_of(rows[j]) / alone[j];
    CHECK(ratios[j] < 1);  // sharing by rates beats equal parts for everybody
  }
  CHECK(ratios[0] == doctest::Approx(ratios[1]).epsilon(0.001));
  CHECK(ratios[0] == doctest::Approx(ratios[2]).epsilon(0.001));
}

TEST_CASE("finish_time_fairness: on one kind everybody gets the rate that it needs, and no more") {
  // One accelerator, just come: rho = R / share / (2 R), equal for both with half of the time each.
  Jobs jobs;
  jobs.nodes("a", 1, 1).job(0, 1, 10).job(0, 1, 1000);
  const std::vector<ShareRow> rows = jobs.shares("finish_time_fairness");
  CHECK(rows[0].share[0] == doctest::Approx(0.5).epsilon(0.001));
  CHECK(rows[1].share[0] == doctest::Approx(0.5).epsilon(0.001));
}

}  // namespace
}  // namespace foretrace::scheduling::test
