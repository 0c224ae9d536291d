#include <doctest/doctest.h>

#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("allox: one machine runs the shortest job first, and does not preempt it") {
  Jobs jobs;
  jobs.nodes("a", 1, 1).job(0, 1, 30).job(0, 1, 10).job(0, 1, 20);
  CHECK(jobs.ends("allox", "reset='0 s'", leases(10)) == Times{60, 10, 30});
}

TEST_CASE("allox: a job goes where waiting for a faster machine does not pay") {
  // a twice as fast as b. 10 and 20 s on a: both in a row 10 + 30; the long one on b 10 + 40.
  Jobs jobs;
  jobs.nodes("a", 1, 1).nodes("b", 1, 1);
  jobs.job_of("x", 1, 100, {10, 5}).job_of("y", 1, 200, {10, 5}).job_of("z", 1, 30, {1, 1});
  const std::vector<ShareRow> rows = jobs.shares("allox");
  // z takes b for 30 s; x and y share a, x first.
  CHECK(rows[2].share == std::vector<double>{0, 1});
  CHECK(rows[0].share == std::vector<double>{1, 0});
  CHECK(rows[1].share == std::vector<double>{0, 0});
}

}  // namespace
}  // namespace foretrace::scheduling::test
