// A modelled step in two grains: whole passes, which formulas and sweeps take, and single operators,
// which what-ifs act on. Both are one job, so they say the same.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include "models/jobs/program/estimate.h"
#include "models/jobs/program/graphs/operator_graph.h"
#include "models/jobs/program/graphs/rank_nodes.h"
#include "models/jobs/program/stages.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/engine/pull/pull.h"
#include "tests/laws/support/random_job.h"

namespace foretrace {
namespace {

/// More passes say nothing else, and take long.
constexpr double most_passes = 600;

bool is_small(const Job& job) {
  return job.plan.pipeline * 1.0 * job.chunks * job.micro_batches() * job.model->layers <=
         most_passes * job.plan.pipeline * job.chunks;
}

/// What operators have and passes do not: their norm of gradients takes a collective, per step.
double meeting_ns(const std::vector<RankNode>& nodes) {
  double sum = 0;
  for (const RankNode& node : nodes) {
    if (node.joins_stages) sum += node.ns;
  }
  return sum;
}

TEST_CASE("jobs: operators take the time of their passes, and their memory") {
  test::RandomJobs jobs;
  int checked = 0;
  int curves = 0;
  int equal_times = 0;
  int equal_peaks = 0;
  const std::uint64_t numbers = test::law_jobs(400, 20);
  for (std::uint64_t number = 0; number < numbers; ++number) {
    const test::RandomJob drawn = jobs.draw(number);
    Job job = drawn.scenario.job;
    // A host that is never behind, as it is, and one that limits.
    const double slower = std::array{0.0, 1.0, 5.0}[number % 3];
    Framework framework = *job.framework;
    framework.host_kernel_ns.typical *= slower;
    framework.travel.host_per_view_ns *= slower;
    framework.travel.host_per_copy_ns *= slower;
    job.framework = &framework;
    if (!is_small(job)) continue;
    CAPTURE(drawn.text);
    CAPTURE(slower);
    const auto program = build_program(job);
    REQUIRE(program.ok());
    const auto graph = operator_graph(job, *program, "model");
    if (!graph.ok()) {
      CHECK(graph.error().code == ErrorCode::unsupported);
      continue;
    }
    ++checked;
    const auto passes = estimate(job, *program, Passes::by_steps);
    REQUIRE(passes.ok());
    const Timeline timeline = simulate(*graph);
    const auto nodes = rank_nodes(job, *program, 0);
    REQUIRE(nodes.ok());
    const double step = static_cast<double>(passes->step_ns) + meeting_ns(*nodes);
    const auto span = static_cast<double>(timeline.span_ns);
    // What travels beside passes of other stages, and waits in their bubbles, costs passes more.
    CHECK(span <= (slower > 0 ? 1.02 : 1.01) * step);  // passes leave out some first launches
    equal_times += span >= 0.995 * step ? 1 : 0;
    for (const MemoryCurve& curve : track_memory(*graph, timeline)) {
      const double formula = passes->memory[static_cast<std::size_t>(curve.rank)].total();
      const auto peak = static_cast<double>(curve.peak_bytes);
      // Where positions are not alike, passes have a mean of what they keep.
      const std::vector<std::uint32_t> layers = layers_by_position(job);
      const bool alike =
          std::adjacent_find(layers.begin(), layers.end(), std::not_equal_to<>()) == layers.end();
      if (alike) CHECK(peak <= 1.01 * formula);
      ++curves;
      equal_peaks += std::abs(peak / formula - 1) < 0.01 ? 1 : 0;
    }
  }
  CHECK(equal_times >= 0.9 * checked);
  CHECK(equal_peaks >= 0.85 * curves);
  CHECK(checked * 4 >= static_cast<int>(numbers));
}

}  // namespace
}  // namespace foretrace
