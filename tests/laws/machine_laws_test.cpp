// Laws of machines, on random jobs: what a device cannot do, and faster ones.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/hardware/power/board_power.h"
#include "models/jobs/program/estimate.h"
#include "tests/configs.h"
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

double limit_of(const Accelerator& accelerator) {
  const auto power = board_power(*test::shipped(), accelerator.name);
  REQUIRE(power.ok());
  return power->has_value() ? (*power)->limit_w : 0;
}

/// Starts of kernels were measured in one program of each board: they are of hosts and drivers.
Accelerator with_starts_of(const Accelerator& one, Accelerator other) {
  other.launch_latency_ns = one.launch_latency_ns;
  other.kernel_gap_ns = one.kernel_gap_ns;
  other.shortest_kernel_ns = one.shortest_kernel_ns;
  other.shortest_product_ns = one.shortest_product_ns;
  other.product_bandwidth_share = one.product_bandwidth_share;
  other.fits = one.fits;
  return other;
}

/// Shipped devices with the same die and power limit, the one with less bandwidth first.
std::vector<std::pair<Accelerator, Accelerator>> boards_of_one_die() {
  std::vector<Accelerator> all;
  for (const std::string& name : test::shipped()->accelerator_names()) {
    const auto found = test::shipped()->accelerator(name);
    REQUIRE(found.ok());
    all.push_back(**found);
  }
  std::vector<std::pair<Accelerator, Accelerator>> pairs;
  for (const Accelerator& one : all) {
    for (const Accelerator& other : all) {
      const bool is_die = one.peak_flops == other.peak_flops &&
                          one.multiprocessors == other.multiprocessors &&
                          one.vector_fp32_flops == other.vector_fp32_flops;
      const double watts = limit_of(one);
      const bool is_board = watts > 0 && watts == limit_of(other);
      if (is_die && is_board && one.memory_bandwidth < other.memory_bandwidth) {
        pairs.emplace_back(one, with_starts_of(one, other));
      }
    }
  }
  return pairs;
}

TEST_CASE("jobs: a device of the same die and power with more bandwidth is never slower") {
  const auto pairs = boards_of_one_die();
  const auto is_hopper = [](const auto& pair) {
    return pair.first.name == "h100_sxm" && pair.second.name == "h200_sxm";
  };
  REQUIRE(std::any_of(pairs.begin(), pairs.end(), is_hopper));
  test::RandomJobs jobs;
  int seen = 0;
  for (std::uint64_t number = 0; number < test::law_jobs(300); ++number) {
    const test::RandomJob drawn = jobs.draw(number);
    CAPTURE(drawn.text);
    const auto& [slow, fast] = pairs[number % pairs.size()];
    CAPTURE(slow.name);
    CAPTURE(fast.name);
    const auto step_on = [&drawn](const Accelerator& accelerator) {
      Cluster cluster = *drawn.scenario.job.cluster;
      cluster.accelerator = accelerator;
      Job job = drawn.scenario.job;
      job.cluster = &cluster;
      return estimate(job);
    };
    const auto slow_step = step_on(slow);
    const auto fast_step = step_on(fast);
    if (!slow_step.ok() || !fast_step.ok()) continue;
    // A device that waits less for memory runs at a lower clock: by no more than it gains.
    CHECK(static_cast<double>(fast_step->step_ns) <=
          static_cast<double>(slow_step->step_ns) * (1 + 1e-6));
    ++seen;
  }
  CHECK(seen > 100);
}

}  // namespace
}  // namespace foretrace
