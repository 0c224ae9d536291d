#include <doctest/doctest.h>

#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("srsf: the least time times accelerators runs first") {
  // Job 0: 3 s x 4 = 12; job 1: 10 s x 1 = 10 goes first and leaves no room for four.
  Jobs jobs;
  jobs.nodes("a", 1, 4).job(0, 4, 3).job(0, 1, 10);
  CHECK(jobs.ends("srsf") == Times{13, 10});
  CHECK(jobs.ends("srtf") == Times{3, 13});
}

}  // namespace
}  // namespace foretrace::scheduling::test
