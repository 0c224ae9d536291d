#include <doctest/doctest.h>

#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE(
    "gavel_fifo: aware of kinds the first job takes the fastest, else the first of the cluster") {
  Jobs jobs;
  jobs.nodes("a", 1, 1).nodes("b", 1, 1);
  jobs.job_of("x", 1, 100, {1, 5}).job_of("y", 1, 100, {2, 9});
  std::vector<ShareRow> rows = jobs.shares("gavel_fifo", "aware=true");
  CHECK(rows[0].share == std::vector<double>{0, 1});
  CHECK(rows[1].share == std::vector<double>{1, 0});
  rows = jobs.shares("gavel_fifo", "aware=false");
  CHECK(rows[0].share == std::vector<double>{1, 0});
}

TEST_CASE("gavel_fifo: the head of the queue blocks, and nothing runs without a share") {
  Jobs jobs;
  jobs.nodes("a", 1, 2).job(0, 1, 20).job(0, 2, 10).job(0, 1, 10);
  CHECK(jobs.ends("gavel_fifo", "reset='0 s'", leases(10)) == Times{20, 30, 40});
}

}  // namespace
}  // namespace foretrace::scheduling::test
