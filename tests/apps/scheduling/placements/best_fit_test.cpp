#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "tests/apps/scheduling/place_requests.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("best_fit: the node with the least left wins") {
  // Node 0 has 8 accelerators, node 1 has 2: a job of one leaves 7 or 1.
  Jobs jobs;
  jobs.nodes("a", 1, 8).nodes("b", 1, 2);
  const auto placed = place_all(jobs, "best_fit", {whole_ones(1), whole_ones(2)});
  CHECK(node_of(placed[0]) == 1);
  CHECK(node_of(placed[1]) == 0);  // two do not fit on node 1 any more
}

}  // namespace
}  // namespace foretrace::scheduling::test
