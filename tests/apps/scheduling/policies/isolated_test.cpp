#include <doctest/doctest.h>

#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("isolated: every job gets an equal part of every kind, at most all of its time") {
  Jobs jobs;
  jobs.nodes("a", 1, 4).nodes("b", 1, 2);
  for (int i = 0; i < 4; ++i) jobs.job_of("x", i == 3 ? 4 : 1, 100, {1, 1});
  const std::vector<ShareRow> rows = jobs.shares("isolated");
  // 4/4 and 2/4 of an accelerator are more than all of the time: 2/3 and 1/3 of it.
  CHECK(rows[0].share[0] == doctest::Approx(2.0 / 3));
  CHECK(rows[0].share[1] == doctest::Approx(1.0 / 3));
  // On four accelerators at once a quarter of it each.
  CHECK(rows[3].share[0] == doctest::Approx(0.25));
  CHECK(rows[3].share[1] == doctest::Approx(0.125));
}

}  // namespace
}  // namespace foretrace::scheduling::test
