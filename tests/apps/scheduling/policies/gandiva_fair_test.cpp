#include <doctest/doctest.h>

#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("gandiva_fair: a job gets the same time however many accelerators it takes") {
  // 4 accelerators, 8 jobs: 4/8 of the time each.
  Jobs jobs;
  jobs.nodes("a", 1, 4);
  for (int i = 0; i < 8; ++i) jobs.job(0, 1 + i % 4, 100);
  for (const ShareRow& row : jobs.shares("gandiva_fair")) CHECK(row.share[0] == 0.5);
}

}  // namespace
}  // namespace foretrace::scheduling::test
