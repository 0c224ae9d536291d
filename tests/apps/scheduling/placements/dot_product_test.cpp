#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "tests/apps/scheduling/place_requests.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("dot_product: a job of accelerators goes where these are scarce and cores are not") {
  Jobs jobs;
  jobs.nodes("a", 1, 8).nodes("b", 1, 4);
  jobs.cluster.nodes[NodeId{0}].cpu_milli = 32000;
  jobs.cluster.nodes[NodeId{1}].cpu_milli = 128000;
  // Node 0: 1 x 8/64 = 0.125, node 1: 4/64 = 0.0625 for four times the accelerators.
  const auto placed = place_all(jobs, "dot_product", {whole_ones(4)});
  CHECK(node_of(placed[0]) == 1);
}

}  // namespace
}  // namespace foretrace::scheduling::test
