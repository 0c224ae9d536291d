#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "tests/apps/scheduling/place_requests.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("random: every node where a job fits is taken sometimes, others never") {
  std::vector<int> taken(3, 0);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Jobs jobs;
    jobs.nodes("a", 2, 2).nodes("b", 1, 1);
    auto placement = make_placement(
        "random", "", {.cluster = &jobs.cluster, .workload = &jobs.workload, .seed = seed});
    REQUIRE(placement.ok());
    const Occupancy occupancy(jobs.cluster);
    ++taken[node_of((*placement)->place(occupancy, whole_ones(2)))];
  }
  CHECK(taken[0] > 10);
  CHECK(taken[1] > 10);
  CHECK(taken[2] == 0);
}

}  // namespace
}  // namespace foretrace::scheduling::test
