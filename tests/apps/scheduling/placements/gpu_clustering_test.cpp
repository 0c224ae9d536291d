#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "tests/apps/scheduling/place_requests.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("gpu_clustering: jobs of one size gather, other sizes stay apart") {
  Jobs jobs;
  jobs.nodes("a", 3, 8);
  const auto placed =
      place_all(jobs, "gpu_clustering",
                {share(500), whole_ones(2), share(500), whole_ones(2), whole_ones(4)});
  CHECK(node_of(placed[0]) == 0);
  CHECK(node_of(placed[1]) == 1);
  CHECK(node_of(placed[2]) == 0);
  CHECK(node_of(placed[3]) == 1);
  CHECK(node_of(placed[4]) == 2);
}

}  // namespace
}  // namespace foretrace::scheduling::test
