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

std::vector<Accelerator> shipped_devices() {
  std::vector<Accelerator> all;
  for (const std::string& name : test::shipped()->accelerator_names()) {
    const auto found = test::shipped()->accelerator(name);
    REQUIRE(found.ok());
    all.push_back(**found);
  }
  return all;
}

using DevicePairs = std::vector<std::pair<Accelerator, Accelerator>>;

/// Shipped devices with the same die and power limit, the one with less bandwidth first.
DevicePairs boards_of_one_die() {
  const std::vector<Accelerator> all = shipped_devices();
  DevicePairs pairs;
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

/// Shipped boards for games, whose matrix units run at half their rate where they add up in fp32:
/// pairs of which the second has more of everything.
DevicePairs boards_for_games() {
  const std::vector<Accelerator> all = shipped_devices();
  const auto is_for_games = [](const Accelerator& device) {
    const auto states = [&device](Precision precision) {
      return device.peak_flops[static_cast<std::size_t>(precision)] > 0;
    };
    return device.product.find("GeForce") != std::string::npos && states(Precision::bf16);
  };
  DevicePairs pairs;
  for (const Accelerator& one : all) {
    for (const Accelerator& other : all) {
      if (!is_for_games(one) || !is_for_games(other)) continue;
      const bool has_more = one.flops(Precision::bf16) < other.flops(Precision::bf16) &&
                            one.vector_fp32_flops < other.vector_fp32_flops &&
                            one.memory_bandwidth < other.memory_bandwidth &&
                            one.memory_bytes <= other.memory_bytes &&
                            one.multiprocessors < other.multiprocessors;
      if (has_more) pairs.emplace_back(one, with_starts_of(one, other));
    }
  }
  return pairs;
}

void check_never_slower(const DevicePairs& pairs, double tolerance) {
  test::RandomJobs jobs;
  int seen = 0;
  for (std::uint64_t number = 0; number < test::law_jobs(300); ++number) {
    const test::RandomJob drawn = jobs.draw(number);
    CAPTURE(drawn.text);
    const Accelerator& slow = pairs[number % pairs.size()].first;
    const Accelerator& fast = pairs[number % pairs.size()].second;
    CAPTURE(slow.name);
    CAPTURE(fast.name);
    const Precisions& precisions = drawn.scenario.job.precisions;
    if (!check_precision(precisions, slow).ok() || !check_precision(precisions, fast).ok())
      continue;
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
          static_cast<double>(slow_step->step_ns) * (1 + tolerance));
    ++seen;
  }
  CHECK(seen > 100);
}

TEST_CASE("jobs: a device of the same die and power with more bandwidth is never slower") {
  const auto pairs = boards_of_one_die();
  const auto is_hopper = [](const auto& pair) {
    return pair.first.name == "h100_sxm" && pair.second.name == "h200_sxm";
  };
  REQUIRE(std::any_of(pairs.begin(), pairs.end(), is_hopper));
  check_never_slower(pairs, 1e-6);
}

TEST_CASE("jobs: a board for games with more of everything is never slower") {
  const auto pairs = boards_for_games();
  for (const auto& [slow, fast] : {std::pair{"rtx_3090", "rtx_4090"}, {"rtx_4090", "rtx_5090"}}) {
    const auto is_pair = [slow = slow, fast = fast](const auto& pair) {
      return pair.first.name == slow && pair.second.name == fast;
    };
    REQUIRE(std::any_of(pairs.begin(), pairs.end(), is_pair));
  }
  // The last wave of a product may fill fewer of more multiprocessors.
  check_never_slower(pairs, 0.02);
}

}  // namespace
}  // namespace foretrace
