#include <doctest/doctest.h>

#include "tests/apps/scheduling/jobs_builder.h"

namespace foretrace::scheduling::test {
namespace {

TEST_CASE("fifo: the job at the head blocks all behind it, though they would fit") {
  // 4 accelerators. Job 0 takes 3 until 10; job 1 wants 2 and waits; job 2 wants 1, which is free.
  Jobs jobs;
  jobs.nodes("a", 1, 4).job(0, 3, 10).job(1, 2, 5).job(2, 1, 1);
  CHECK(jobs.ends("fifo") == Times{10, 15, 11});
}

TEST_CASE("fifo: a gang that finds no room of the right shape blocks too") {
  // Two nodes of 2: job 1 wants 2 parts of a memory that no node has twice.
  Jobs jobs;
  jobs.nodes("a", 2, 2).job(0, 1, 10).job(1, 2, 5).job(2, 1, 1);
  for (Node& node : jobs.cluster.nodes.values()) node.memory_mib = 100;
  for (Job& job : jobs.workload.jobs.values()) job.request.memory_mib = 60;
  // Job 0 on node 0 leaves 40 MiB there; job 1 needs 30 per accelerator and fits over both nodes.
  CHECK(jobs.ends("fifo") == Times{10, 6, 7});
}

}  // namespace
}  // namespace foretrace::scheduling::test
