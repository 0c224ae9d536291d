#include "models/jobs/program/graphs/operator_graph.h"

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/hardware/costs/kernel_cost.h"
#include "models/hardware/kernels/kernel_rules.h"
#include "models/jobs/figures/scenario_answer.h"
#include "models/jobs/program/estimate.h"
#include "models/jobs/scenario/scenario.h"
#include "sim/engine/memory/memory_tracker.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/validate.h"
#include "tests/configs.h"
#include "tests/models/jobs/program/selene_job.h"

using foretrace::build_program;
using foretrace::Estimate;
using foretrace::estimate;
using foretrace::Job;
using foretrace::MemoryCurve;
using foretrace::none;
using foretrace::operator_graph;
using foretrace::Passes;
using foretrace::read_scenario;
using foretrace::Scenario;
using foretrace::simulate;
using foretrace::TaskGraph;
using foretrace::Timeline;
using foretrace::track_memory;
using foretrace::test::shipped;

namespace {

/// What a step modelled by passes and the same one operator by operator say.
struct BothGrains {
  Estimate passes;
  TaskGraph graph;
  Timeline timeline;
  std::vector<double> peaks;  // per stage
};

BothGrains both_of(const Job& job) {
  auto program = build_program(job);
  REQUIRE_MESSAGE(program.ok(), program.error().message);
  auto passes = estimate(job, *program, Passes::by_steps);
  REQUIRE(passes.ok());
  auto graph = operator_graph(job, *program, "model");
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  BothGrains both{std::move(*passes), std::move(*graph), {}, {}};
  both.timeline = simulate(both.graph);
  both.peaks.resize(job.plan.pipeline);
  for (const MemoryCurve& curve : track_memory(both.graph, both.timeline)) {
    both.peaks[static_cast<std::size_t>(curve.rank)] = static_cast<double>(curve.peak_bytes);
  }
  return both;
}

/// The host never makes the device wait, and so both say the same.
Job without_host(const Scenario& scenario, foretrace::Framework& framework) {
  framework = *scenario.framework;
  framework.host_kernel_ns = {0, 0, 0};
  framework.travel.host_per_view_ns = framework.travel.host_per_copy_ns = 0;
  Job job = scenario.job;
  job.framework = &framework;
  return job;
}

std::vector<Scenario> shipped_scenarios() {
  std::vector<Scenario> scenarios;
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator(
           std::filesystem::path(FORETRACE_SOURCE_DIR) / "configs" / "scenarios")) {
    paths.push_back(file.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    auto scenario = read_scenario(*shipped(), path);
    REQUIRE_MESSAGE(scenario.ok(), scenario.error().message);
    scenarios.push_back(std::move(*scenario));
  }
  return scenarios;
}

}  // namespace

TEST_CASE("operator graph: shipped scenarios take the time and the memory that passes say") {
  for (const Scenario& scenario : shipped_scenarios()) {
    foretrace::Framework framework;
    const Job job = without_host(scenario, framework);
    // 64 micro-batches say no more than 8.
    Job small = job;
    const double most = 2.0 * job.plan.pipeline;
    if (job.micro_batches() > most) small.global_batch = job.plan.data * job.micro_batch * most;
    CAPTURE(scenario.path);
    const BothGrains both = both_of(small);
    const auto step = static_cast<double>(both.passes.step_ns);
    CHECK(static_cast<double>(both.timeline.span_ns) == doctest::Approx(step).epsilon(0.001));
    // Where positions are not alike, passes have a mean of what they keep.
    if (scenario.path.find("llama3_405b") != std::string::npos) continue;
    for (std::size_t stage = 0; stage < both.peaks.size(); ++stage) {
      CHECK(both.peaks[stage] == doctest::Approx(both.passes.memory[stage].total()).epsilon(0.01));
    }
  }
}

TEST_CASE(
    "operator graph: parameters that stay collected take the time and memory that passes say") {
  foretrace::test::JobParts given = foretrace::test::selene("gpt_22b", "torchtitan");
  given.framework.host_kernel_ns = {0, 0, 0};
  for (const char* const schedule : {"1f1b", "interleaved", "gpipe"}) {
    for (const std::uint32_t shard_size : {0U, 4U}) {
      CAPTURE(schedule);
      CAPTURE(shard_size);
      Job job = foretrace::test::job_of_64(given);
      job.schedule = *foretrace::find_schedule(schedule);
      job.chunks = std::max(1U, job.schedule->least_chunks);
      job.plan.data = 8;
      job.plan.tensor = 2;
      job.plan.sharding = foretrace::Sharding::parameters;
      job.plan.shard_size = shard_size;
      job.global_batch = 64;
      job.recompute = foretrace::Recompute::full;
      const BothGrains both = both_of(job);
      const auto step = static_cast<double>(both.passes.step_ns);
      CHECK(static_cast<double>(both.timeline.span_ns) == doctest::Approx(step).epsilon(0.001));
      for (std::size_t stage = 0; stage < both.peaks.size(); ++stage) {
        CHECK(both.peaks[stage] ==
              doctest::Approx(both.passes.memory[stage].total()).epsilon(0.01));
      }
    }
  }
}

TEST_CASE(
    "operator graph: pieces of a tensor group are put in order by kernels that wait for memory") {
  const foretrace::test::JobParts parts = foretrace::test::selene("gpt_22b", "torchtitan");
  Job job = foretrace::test::job_of(parts);
  job.plan.tensor = 8;
  job.plan.sequence = true;
  job.micro_batch = job.global_batch = 2;
  const BothGrains both = both_of(job);
  const auto& context = both.graph.context();
  int copies = 0;
  for (const foretrace::Work& work : context.works) {
    if (context.names[work.operator_name] != "pieces in order") continue;
    CHECK(foretrace::kernel_rules().facts(context.names[work.name]).traits.kernel_class ==
          foretrace::KernelClass::elementwise);
    ++copies;
  }
  CHECK(copies > 0);
}

TEST_CASE("operator graph: a host that launches takes no longer than passes say") {
  for (const Scenario& scenario : shipped_scenarios()) {
    Job small = scenario.job;
    const double most = 2.0 * small.plan.pipeline;
    if (small.micro_batches() > most)
      small.global_batch = small.plan.data * small.micro_batch * most;
    CAPTURE(scenario.path);
    const BothGrains both = both_of(small);
    const auto step = static_cast<double>(both.passes.step_ns);
    CHECK(static_cast<double>(both.timeline.span_ns) <= 1.001 * step);
    CHECK(static_cast<double>(both.timeline.span_ns) > 0.5 * step);
  }
}
