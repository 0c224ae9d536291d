#include <doctest/doctest.h>

#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("fjf: a job that does not fit lets later ones pass") {
  // 4 accelerators. Job 0 takes 3 until 10; job 1 wants 2 and waits; job 2 takes the free one at 2.
  Jobs jobs;
  jobs.nodes("a", 1, 4).job(0, 3, 10).job(1, 2, 5).job(2, 1, 1);
  CHECK(jobs.ends("fjf") == Times{10, 15, 3});
}

}  // namespace
}  // namespace foretrace::scheduling::test
