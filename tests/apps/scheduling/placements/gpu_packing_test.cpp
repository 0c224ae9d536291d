#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "tests/apps/scheduling/place_requests.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("gpu_packing: a share goes to an accelerator in use, then to a node in use") {
  Jobs jobs;
  jobs.nodes("a", 2, 2);
  const auto placed = place_all(jobs, "gpu_packing",
                                {share(600), share(300), share(600), whole_ones(1), whole_ones(2)});
  CHECK(node_of(placed[0]) == 0);
  CHECK(placed[1]->front().gpus == placed[0]->front().gpus);  // 600 + 300 on one accelerator
  CHECK(node_of(placed[2]) == 0);                             // the other one of the node in use
  CHECK(node_of(placed[3]) == 1);
  CHECK_FALSE(placed[4].has_value());
}

}  // namespace
}  // namespace foretrace::scheduling::test
