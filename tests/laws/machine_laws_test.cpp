// Laws of machines, on random jobs: what a device cannot do, and faster ones.
#include <algorithm>
#include <cstdint>

#include <doctest/doctest.h>

#include "models/jobs/program/estimate.h"
#include "tests/laws/support/faster_machine.h"
#include "tests/laws/support/random_draws.h"
#include "tests/laws/support/random_job.h"

namespace foretrace {
namespace {

TEST_CASE("jobs: a machine that is faster in all respects makes no step longer") {
  test::RandomJobs jobs;
  int seen = 0;
  for (std::uint64_t number = 0; number < test::law_jobs(300); ++number) {
    const test::RandomJob drawn = jobs.draw(number);
    CAPTURE(drawn.text);
    test::Draws draws(number);
    const Cluster plain = test::with_links(*drawn.scenario.job.cluster, 1, 1);
    const Cluster fast = test::faster_machine(plain, 1 + 3 * draws.unit(), 1 + draws.unit());
    const auto step_on = [&drawn](const Cluster& cluster) {
      Job job = drawn.scenario.job;
      job.cluster = &cluster;
      return estimate(job);
    };
    const auto slow_step = step_on(plain);
    const auto fast_step = step_on(fast);
    REQUIRE(slow_step.ok());
    REQUIRE(fast_step.ok());
    CHECK(fast_step->step_ns <= slow_step->step_ns);
    ++seen;
  }
  CHECK(seen > 100);
}

TEST_CASE("jobs: no training step is shorter than memory needs for the weights that it changes") {
  test::RandomJobs jobs;
  int seen = 0;
  for (std::uint64_t number = 0; number < test::law_jobs(300); ++number) {
    const test::RandomJob drawn = jobs.draw(number);
    const Job& job = drawn.scenario.job;
    if (job.pass != Pass::training) continue;
    CAPTURE(drawn.text);
    const auto answer = estimate(job);
    REQUIRE(answer.ok());
    double most = 0;
    for (const StageMemory& stage : answer->memory) most = std::max(most, stage.weights);
    const double seconds = most / job.cluster->accelerator.memory_bandwidth;
    CHECK(static_cast<double>(answer->step_ns) * (1 + 1e-9) + 1 >= seconds * 1e9);
    seen += most > 0 ? 1 : 0;
  }
  CHECK(seen > 50);
}

}  // namespace
}  // namespace foretrace
