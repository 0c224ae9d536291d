#include <vector>

#include <doctest/doctest.h>

#include "tests/apps/scheduling/place_requests.h"

namespace foretrace::scheduling::test {
namespace {

Request host(std::int64_t cpus, std::int64_t gib) {
  return {.gpus = 0, .cpu_milli = cpus * 1000, .memory_mib = gib * 1024};
}

TEST_CASE("vector_best_fit: cores and memory count as shares of what the node has") {
  // Node 0: 64 cores, 64 GiB; node 1: 16 cores, 256 GiB. A request of 8 cores and 8 GiB leaves
  // (56/64 + 56/64)/2 = 0.875 or (8/16 + 248/256)/2 = 0.734: node 1. The next one of 8 cores and
  // 8 GiB fits there too: (0 + 240/256)/2 = 0.47. Then node 1 has no core left.
  Jobs jobs;
  jobs.nodes("a", 2, 0);
  jobs.cluster.nodes[NodeId{0}].cpu_milli = 64000;
  jobs.cluster.nodes[NodeId{0}].memory_mib = 64 * 1024;
  jobs.cluster.nodes[NodeId{1}].cpu_milli = 16000;
  jobs.cluster.nodes[NodeId{1}].memory_mib = 256 * 1024;
  const auto placed =
      place_all(jobs, "vector_best_fit", {host(8, 8), host(8, 8), host(1, 8), host(4, 60)});
  CHECK(node_of(placed[0]) == 1);
  CHECK(node_of(placed[1]) == 1);
  CHECK(node_of(placed[2]) == 0);
  CHECK_FALSE(placed[3]);  // 56 GiB are left on node 0
}

TEST_CASE("vector_best_fit: accelerators are a share of the node's own") {
  // One of 8 leaves 7/8, one of 2 leaves 1/2.
  Jobs jobs;
  jobs.nodes("a", 1, 8).nodes("b", 1, 2);
  CHECK(node_of(place_all(jobs, "vector_best_fit", {whole_ones(1)})[0]) == 1);
}

}  // namespace
}  // namespace foretrace::scheduling::test
