#include <doctest/doctest.h>

#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("srtf: what ends first runs first, and preempts") {
  // One accelerator: at 1 job 1 (3 s) stops job 0 (9 s left), which ends at 4 + 9.
  Jobs jobs;
  jobs.nodes("a", 1, 1).job(0, 1, 10).job(1, 1, 3);
  CHECK(jobs.ends("srtf") == Times{13, 4});
}

TEST_CASE("srtf: a restart costs its time after every new placement") {
  // As above with 2 s without progress after each start: 0: 2..., stopped at 1 with 10 s left;
  // job 1: 1 + 2 + 3 = 6; job 0 again: 6 + 2 + 10 = 18.
  Jobs jobs;
  jobs.nodes("a", 1, 1).job(0, 1, 10).job(1, 1, 3);
  CHECK(jobs.ends("srtf", "", {.restart_ns = 2 * second}) == Times{18, 6});
}

TEST_CASE("srtf: a running job stays on its kind unless it moves") {
  // Job 0 (20 steps) runs on b at 1 step/s while job 1 has a, until 4. Then it may move to a, 4
  // steps/s.
  Jobs jobs;
  jobs.nodes("a", 1, 1).nodes("b", 1, 1);
  jobs.job_of("x", 1, 20, {4, 1}).job_of("y", 1, 4, {1, 0});
  CHECK(jobs.ends("srtf") == Times{20, 4});
  CHECK(jobs.ends("srtf", "moves=true") == Times{8, 4});  // 16 steps left at 4
}

}  // namespace
}  // namespace foretrace::scheduling::test
