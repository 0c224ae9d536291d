#include <doctest/doctest.h>

#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("sjf: jobs that ask for fewer accelerators preempt those that ask for more") {
  // 4 accelerators. At 1 job 1 (2) stops job 0 (3), which did 1 of 10 s; at 6 job 0 goes on.
  Jobs jobs;
  jobs.nodes("a", 1, 4).job(0, 3, 10).job(1, 2, 5).job(2, 1, 1);
  CHECK(jobs.ends("sjf") == Times{15, 6, 3});
}

}  // namespace
}  // namespace foretrace::scheduling::test
