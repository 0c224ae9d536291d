#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "tests/apps/scheduling/place_requests.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("pack: a job goes to the fullest node where it fits") {
  Jobs jobs;
  jobs.nodes("a", 2, 4);
  const auto placed =
      place_all(jobs, "pack", {whole_ones(3), whole_ones(2), whole_ones(1), whole_ones(2)});
  CHECK(node_of(placed[0]) == 0);
  CHECK(node_of(placed[1]) == 1);
  CHECK(node_of(placed[2]) == 0);  // fills node 0
  CHECK(node_of(placed[3]) == 1);
}

TEST_CASE("pack: what fits on no node takes the emptiest ones and the rest where it fits best") {
  Jobs jobs;
  jobs.nodes("a", 3, 4);
  // 3 on node 0 and 2 on node 1 leave 1, 2 and 4: six take node 2 and the two of node 1.
  const auto placed = place_all(jobs, "pack", {whole_ones(3), whole_ones(2), whole_ones(6)});
  REQUIRE(placed[2].has_value());
  REQUIRE(placed[2]->size() == 2);
  CHECK(index((*placed[2])[0].node) == 1);
  CHECK(index((*placed[2])[1].node) == 2);
}

TEST_CASE("pack: cores and memory of a node limit it") {
  Jobs jobs;
  jobs.nodes("a", 2, 4);
  for (Node& node : jobs.cluster.nodes.values()) node.cpu_milli = 8000;
  Request hungry = whole_ones(1);
  hungry.cpu_milli = 6000;
  const auto placed = place_all(jobs, "pack", {hungry, hungry, hungry});
  CHECK(node_of(placed[0]) == 0);
  CHECK(node_of(placed[1]) == 1);
  CHECK_FALSE(placed[2].has_value());
}

}  // namespace
}  // namespace foretrace::scheduling::test
