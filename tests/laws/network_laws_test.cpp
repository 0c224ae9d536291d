// Laws of networks and of sharding, on random jobs.
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/jobs/program/estimate.h"
#include "models/jobs/program/ranged_step.h"
#include "models/jobs/program/stages.h"
#include "tests/laws/support/faster_machine.h"
#include "tests/laws/support/random_draws.h"
#include "tests/laws/support/random_job.h"

namespace foretrace {
namespace {

/// Of the job on another cluster; none where that takes too long for whole numbers.
Result<RangedStep> step_on(Job job, const Cluster& cluster) {
  job.cluster = &cluster;
  return ranged_step(job);
}

TEST_CASE("jobs: what fills at most one node does not depend on the network between nodes") {
  test::RandomJobs jobs;
  int seen = 0;
  for (std::uint64_t number = 0; number < test::law_jobs(300); ++number) {
    const test::RandomJob drawn = jobs.draw(number);
    const Job& job = drawn.scenario.job;
    if (!job.cluster->tier_network.tiers.empty() || job.ranks() > 256) continue;
    CAPTURE(drawn.text);
    test::Draws draws(number);
    Cluster near = *job.cluster;
    near.node_accelerators = std::max(near.node_accelerators, job.ranks());
    Cluster far = near;
    far.nodes = near.nodes + draws.within(0, 100);
    far.network.nics = draws.within(0, 9);
    far.network.nic_bandwidth *= draws.factor(10);
    far.network.step_latency_ns *= draws.factor(10);
    far.network.leaf_nodes = draws.within(0, 4);
    far.network.oversubscription = 1 + draws.within(0, 4);
    far.network.aggregation.trees = draws.within(0, 2);
    const auto one = step_on(job, near);
    const auto other = step_on(job, far);
    REQUIRE(one.ok());
    REQUIRE(other.ok());
    CHECK(one->step_ns == other->step_ns);
    CHECK(one->low_ns == other->low_ns);
    CHECK(one->high_ns == other->high_ns);
    seen += job.ranks() > 1 ? 1 : 0;
  }
  CHECK(seen > 20);
}

TEST_CASE("jobs: faster links and shorter latencies never make a step longer") {
  test::RandomJobs jobs;
  for (std::uint64_t number = 0; number < test::law_jobs(300); ++number) {
    const test::RandomJob drawn = jobs.draw(number);
    const Job& job = drawn.scenario.job;
    CAPTURE(drawn.text);
    test::Draws draws(number);
    const double factor = 1 + 7 * draws.unit();
    const auto base = step_on(job, test::with_links(*job.cluster, 1, 1));
    const auto faster = step_on(job, test::with_links(*job.cluster, factor, 1));
    const auto shorter = step_on(job, test::with_links(*job.cluster, 1, factor));
    REQUIRE((base.ok() && faster.ok() && shorter.ok()));
    // Rounding to whole ns, once per pass.
    const double rounding = 4.0 * job.micro_batches() * job.plan.pipeline * job.chunks;
    CAPTURE(factor);
    CHECK(static_cast<double>(faster->step_ns) <= static_cast<double>(base->step_ns) + rounding);
    CHECK(static_cast<double>(shorter->step_ns) <= static_cast<double>(base->step_ns) + rounding);
  }
}

/// The job with one copy of everything that sharding would divide.
bool make_single(Job& job, bool by_shard_size) {
  if (job.has_own_ranks() || !job.trains()) return false;
  const double passes = job.micro_batches();
  if (by_shard_size) {
    job.plan.shard_size = 1;
    if (job.model->experts.count > 0) return false;
  } else {
    job.plan.data = job.plan.context = job.plan.expert = 1;
    job.plan.shard_size = 0;
    job.plan.expert_tensor = usual_expert_tensor(job.plan, *job.model);
    job.global_batch = job.micro_batch * passes;
  }
  job.sparse_gradients.reset();
  job.plan.sharding = Sharding::none;
  return check_job(job).ok();
}

TEST_CASE("jobs: sharding over one rank changes neither time nor memory") {
  test::RandomJobs jobs;
  int seen = 0;
  for (std::uint64_t number = 0; number < test::law_jobs(300); ++number) {
    const test::RandomJob drawn = jobs.draw(number);
    for (const bool by_shard_size : {false, true}) {
      Job job = drawn.scenario.job;
      if (!make_single(job, by_shard_size)) continue;
      CAPTURE(drawn.text);
      CAPTURE(by_shard_size);
      const auto none = estimate(job);
      REQUIRE(none.ok());
      for (const Sharding kind : {Sharding::optimizer, Sharding::gradients, Sharding::parameters}) {
        job.plan.sharding = kind;
        if (!check_job(job).ok()) continue;
        ++seen;
        const auto sharded = estimate(job);
        REQUIRE(sharded.ok());
        CHECK(sharded->step_ns == none->step_ns);
        CHECK(sharded->breakdown.total() == doctest::Approx(none->breakdown.total()));
        for (std::size_t stage = 0; stage < none->memory.size(); ++stage) {
          CHECK(sharded->memory[stage].total() == none->memory[stage].total());
        }
      }
    }
  }
  CHECK(seen > 100);
}

TEST_CASE("jobs: who shards more holds no more weights, gradients and states") {
  test::RandomJobs jobs;
  int seen = 0;
  for (std::uint64_t number = 0; number < test::law_jobs(300); ++number) {
    const test::RandomJob drawn = jobs.draw(number);
    Job job = drawn.scenario.job;
    std::vector<double> held;
    std::vector<double> weights;  // before they are shared
    for (const Sharding kind :
         {Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters}) {
      job.plan.sharding = kind;
      if (!check_job(job).ok()) continue;
      const auto sharded = estimate(job);
      REQUIRE(sharded.ok());
      // Where parameters stay collected, as long as they are held, shares lie beside them.
      const bool beside = kind == Sharding::parameters && keeps_collected(job, job.plan) &&
                          job.framework->gather_bytes >= job.framework->weight_bytes;
      std::vector<double> states;
      for (std::size_t stage = 0; stage < sharded->memory.size(); ++stage) {
        const StageMemory& own = sharded->memory[stage];
        if (kind == Sharding::none) weights.push_back(own.weights);
        if (beside) CHECK(own.weights <= 2 * weights.at(stage) * (1 + 1e-9));
        states.push_back((beside ? weights.at(stage) : own.weights) + own.gradients +
                         own.optimizer);
      }
      CAPTURE(drawn.text);
      CAPTURE(static_cast<int>(kind));
      for (std::size_t stage = 0; stage < held.size(); ++stage) {
        CHECK(states[stage] <= held[stage] * (1 + 1e-9));
      }
      held = std::move(states);
      ++seen;
    }
  }
  CHECK(seen > 300);
}

}  // namespace
}  // namespace foretrace
