#include <bit>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "tests/apps/scheduling/place_requests.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("spread: accelerators come from the node with most of them free, then from the next") {
  Jobs jobs;
  jobs.nodes("a", 3, 4);
  const auto placed = place_all(jobs, "spread", {whole_ones(1), whole_ones(1), whole_ones(6)});
  CHECK(node_of(placed[0]) == 0);
  CHECK(node_of(placed[1]) == 1);  // 3, 4, 4: the first of the fullest
  // 3, 3, 4: four from node 2, two from node 0.
  REQUIRE(placed[2].has_value());
  REQUIRE(placed[2]->size() == 2);
  CHECK(index((*placed[2])[0].node) == 0);
  CHECK(std::popcount((*placed[2])[0].gpus) == 2);
  CHECK(index((*placed[2])[1].node) == 2);
  CHECK(std::popcount((*placed[2])[1].gpus) == 4);
}

TEST_CASE("spread: more than is free finds no room") {
  Jobs jobs;
  jobs.nodes("a", 2, 2);
  CHECK_FALSE(place_all(jobs, "spread", {whole_ones(5)})[0].has_value());
}

}  // namespace
}  // namespace foretrace::scheduling::test
