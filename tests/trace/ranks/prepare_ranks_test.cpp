#include "trace/ranks/prepare_ranks.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/trace/rules/table_builder.h"
#include "trace/ranks/job.h"

namespace foretrace::trace {
namespace {

/// Twelve kernels, irregularly spaced, called this.
EventTable twelve(const char* name, double late_us) {
  TableBuilder t;
  double host = 0;
  for (int i = 0; i < 12; ++i) {
    t.work(t.call(t.thread(1), "cudaLaunchKernel", host + late_us, 5), t.stream(20),
           host + 7 + late_us, 100 - late_us, name);
    host += 2000 + 317 * ((i * 7) % 5);
  }
  t.table().info.base_time_ns = 1'000'000'000'000;
  return t.table();
}

std::vector<RankTrace> two(const EventTable& first, const EventTable& second, bool is_told) {
  std::vector<RankTrace> ranks(2);
  ranks[0].trace.events = first;
  ranks[1].trace.events = second;
  for (int i = 0; i < 2; ++i) {
    RankTrace& rank = ranks[static_cast<std::size_t>(i)];
    rank.rank = i;
    rank.path = i == 0 ? "before.json" : "after.json";
    rank.is_told = is_told;
  }
  return ranks;
}

}  // namespace

TEST_CASE("job: two recordings that nothing joins are no job") {
  auto ranks = two(twelve("gemm", 0), twelve("gemm", 3), false);
  const Result<BuiltJob> job = build_job(ranks);
  REQUIRE_FALSE(job.ok());
  CHECK(job.error().code == ErrorCode::bad_usage);
  CHECK(job.error().message ==
        "before.json: has no common collectives with after.json, and no record says that they are "
        "ranks of one job; use each by itself");
}

TEST_CASE("job: ranks of jobs of different sizes are none of one job") {
  auto ranks = two(twelve("gemm", 0), twelve("gemm", 3), true);
  ranks[0].trace.events.info.world_size = 8;
  CHECK(build_job(ranks).ok());  // the other one's is not recorded
  ranks[1].trace.events.info.world_size = 2;
  const Result<BuiltJob> job = build_job(ranks);
  REQUIRE_FALSE(job.ok());
  CHECK(job.error().message ==
        "before.json: has no common collectives with after.json, and they are of jobs of 8 and 2 "
        "ranks; use each by itself");
}

TEST_CASE("job: recordings whose ranks are known are one, and so are those that communicate") {
  auto told = two(twelve("gemm", 0), twelve("gemm", 3), true);
  CHECK(build_job(told).ok());
  constexpr const char* collective = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
  auto met = two(twelve(collective, 0), twelve(collective, 3), false);
  const Result<BuiltJob> job = build_job(met);
  REQUIRE_MESSAGE(job.ok(), (job.ok() ? std::string() : job.error().message));
  CHECK(job->matching.collectives.size() == 12);
}

}  // namespace foretrace::trace
