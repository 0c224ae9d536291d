#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "tests/apps/scheduling/place_requests.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("fgd: a share goes where it leaves most to jobs of whole accelerators") {
  // The workload is shares of 500 and whole accelerators. The first share splits an accelerator of
  // node 0; the second joins it, since splitting another would cost the whole jobs 500 more.
  Jobs jobs;
  jobs.nodes("a", 2, 2);
  const auto placed =
      place_all(jobs, "fgd", {share(500), share(500), whole_ones(1), whole_ones(2)});
  CHECK(placed[1]->front().node == placed[0]->front().node);
  CHECK(placed[1]->front().gpus == placed[0]->front().gpus);
  CHECK(node_of(placed[2]) == node_of(placed[0]));
  CHECK(placed[3].has_value());
}

}  // namespace
}  // namespace foretrace::scheduling::test
