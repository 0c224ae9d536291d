#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "tests/apps/scheduling/place_requests.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("count: numbers are all that counts") {
  Jobs jobs;
  jobs.nodes("a", 2, 1);
  const auto placed = place_all(jobs, "count", {whole_ones(2)});
  REQUIRE(placed[0].has_value());
  CHECK(placed[0]->empty());
  // A gang of two runs over two nodes; a third accelerator is not there.
  jobs.workload.jobs = {};
  jobs.job(0, 2, 10).job(0, 1, 10);
  CHECK(jobs.ends("fjf", "", {}, "count") == Times{10, 20});
}

}  // namespace
}  // namespace foretrace::scheduling::test
