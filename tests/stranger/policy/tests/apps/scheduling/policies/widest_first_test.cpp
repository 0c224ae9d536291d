#include <doctest/doctest.h>

#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("widest_first: of two that wait the one that asks for more starts first") {
  // 4 accelerators, all taken until 10; then job 2 takes 4 until 15, and job 1 begins.
  Jobs jobs;
  jobs.nodes("a", 1, 4).job(0, 4, 10).job(1, 1, 5).job(2, 4, 5);
  CHECK(jobs.ends("widest_first") == Times{10, 20, 15});
}

}  // namespace
}  // namespace foretrace::scheduling::test
