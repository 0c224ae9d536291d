#include <doctest/doctest.h>

#include "apps/scheduling/solver/linear_program.h"
#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("min_total_duration: on one kind time is steps over rates over accelerators") {
  // Needs of 100 and 300 accelerator seconds on 2: 200 s, but job 1 alone takes 300 on one.
  Jobs jobs;
  jobs.nodes("a", 1, 2).job(0, 1, 100).job(0, 1, 300);
  const std::vector<ShareRow> rows = jobs.shares("min_total_duration");
  CHECK(rows[1].share[0] == doctest::Approx(1).epsilon(0.002));
  CHECK(rows[0].share[0] >= 1.0 / 3 - 0.001);
}

TEST_CASE("min_total_duration: prices of kinds find what one linear program finds") {
  // Three jobs, two kinds: the largest steps / rate, minimized, is the same by both ways.
  Jobs jobs;
  jobs.nodes("a", 1, 2).nodes("b", 1, 1);
  jobs.job_of("x", 1, 900, {4, 1}).job_of("y", 1, 800, {2, 3}).job_of("z", 1, 1500, {5, 1});
  const std::vector<ShareRow> rows = jobs.shares("min_total_duration", "width=1e-6");
  double duration = 0;
  for (const ShareRow& row : rows) {
    duration = std::max(duration, jobs.workload.jobs[row.job].steps() / jobs.rate_of(row));
  }
  // maximize l: rates . x_j >= l steps_j, sum of x_j <= 1, sums per kind <= 2 and 1.
  LinearProgram program;
  const std::size_t level = program.add_column(1);
  const std::size_t kinds[] = {program.add_row(-no_limit, 2), program.add_row(-no_limit, 1)};
  const double rates[3][2] = {{4, 1}, {2, 3}, {5, 1}};
  const double steps[] = {900, 800, 1500};
  for (std::size_t j = 0; j < 3; ++j) {
    const std::size_t time = program.add_row(-no_limit, 1);
    const std::size_t need = program.add_row(0, no_limit);
    program.add(need, level, -steps[j]);
    for (std::size_t k = 0; k < 2; ++k) {
      const std::size_t x = program.add_column(0);
      program.add(time, x, 1);
      program.add(kinds[k], x, 1);
      program.add(need, x, rates[j][k]);
    }
  }
  const auto direct = program.maximize();
  REQUIRE(direct.ok());
  CHECK(duration == doctest::Approx(1 / direct->objective).epsilon(1e-4));
}

}  // namespace
}  // namespace foretrace::scheduling::test
