#include <doctest/doctest.h>

#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("las: a job leaves its queue at the limit and those in it pass") {
  // One accelerator, limit 5 s: job 0 runs until 5 though job 1 waits from 2; then job 1, 5 to 8.
  Jobs jobs;
  jobs.nodes("a", 1, 1).job(0, 1, 10).job(2, 1, 3);
  CHECK(jobs.ends("las", "limits='5 s',service=time") == Times{13, 8});
}

TEST_CASE("las: service counts accelerators unless it is time alone") {
  // Two accelerators, limit 8: job 0 on both reaches 8 accelerator seconds at 4, job 1 runs 4 to 7.
  Jobs jobs;
  jobs.nodes("a", 1, 2).job(0, 2, 10).job(2, 2, 3);
  CHECK(jobs.ends("las", "limits='8 s'") == Times{13, 7});
  CHECK(jobs.ends("las", "limits='8 s',service=time") == Times{13, 11});
}

TEST_CASE("las: a job that waited long begins again in the first queue") {
  // Limit 2 s, promotion after a wait as long as it ran. Job 0 runs 0 to 2, is demoted; job 1 (2 s,
  // at 0) runs 2 to 4 and ends. Without job 1's end job 0 would be promoted at 4.
  Jobs jobs;
  jobs.nodes("a", 1, 1).job(0, 1, 4).job(0, 1, 2);
  CHECK(jobs.ends("las", "limits='2 s',service=time,promote=1") == Times{6, 4});
}

TEST_CASE("las: limits that shrink are an error") {
  CHECK(make_policy("las", "limits='5 s/2 s'").error().message ==
        "las: limits: '5 s/2 s' do not grow");
  CHECK(make_policy("las", "limits='5'").error().message.starts_with("las: limits: "));
}

}  // namespace
}  // namespace foretrace::scheduling::test
