#include <doctest/doctest.h>

#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("max_sum_throughput: the fastest job gets the accelerator, for its price if asked for") {
  Jobs jobs;
  jobs.nodes("a", 1, 1).nodes("b", 1, 1);
  jobs.job_of("x", 1, 100, {10, 4}).job_of("y", 1, 100, {9, 1});
  // 10 + 1 against 9 + 4: job 0 goes to b.
  std::vector<ShareRow> rows = jobs.shares("max_sum_throughput");
  CHECK(rows[0].share == std::vector<double>{0, 1});
  CHECK(rows[1].share == std::vector<double>{1, 0});
  // b at a price of 10: 10 + 1/10 against 9 + 4/10.
  jobs.cluster.kinds[KindId{0}].price_per_hour = 1;
  jobs.cluster.kinds[KindId{1}].price_per_hour = 10;
  rows = jobs.shares("max_sum_throughput", "per_cost=true");
  CHECK(rows[0].share == std::vector<double>{1, 0});
}

TEST_CASE("max_sum_throughput: a deadline is met before the sum counts, unless none can be") {
  Jobs jobs;
  jobs.nodes("a", 1, 1).job_of("x", 1, 100, {10}).job_of("y", 1, 100, {5});
  jobs.workload.jobs[JobId{1}].deadline_ns = 50 * second;  // needs 2 of 5 steps per second
  std::vector<ShareRow> rows = jobs.shares("max_sum_throughput", "deadlines=true");
  CHECK(rows[1].share[0] == doctest::Approx(0.4));
  CHECK(rows[0].share[0] == doctest::Approx(0.6));
  jobs.workload.jobs[JobId{1}].deadline_ns = 10 * second;  // 10 steps per second: impossible
  rows = jobs.shares("max_sum_throughput", "deadlines=true");
  CHECK(rows[0].share[0] == doctest::Approx(1));
}

}  // namespace
}  // namespace foretrace::scheduling::test
