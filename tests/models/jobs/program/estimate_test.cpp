#include "models/jobs/program/estimate.h"

#include <algorithm>
#include <memory>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/accelerator.h"
#include "models/jobs/program/graphs/pipeline_graph.h"
#include "models/jobs/program/ranged_step.h"
#include "models/jobs/times/evidence.h"
#include "sim/engine/event/event_driven.h"
#include "tests/configs.h"
#include "tests/models/jobs/program/selene_job.h"

using foretrace::build_program;
using foretrace::Estimate;
using foretrace::estimate;
using foretrace::find_cluster;
using foretrace::Job;
using foretrace::ranged_step;
using foretrace::Recompute;
using foretrace::Sharding;
using foretrace::StageMemory;
using foretrace::test::job_of;
using foretrace::test::JobParts;
using foretrace::test::selene;

namespace {

double total(const Estimate& answer) { return answer.memory.front().total(); }

}  // namespace

TEST_CASE("estimate: a breakdown sums to the step, and the range holds the step") {
  const JobParts given = selene("gpt3_175b");
  Job job = job_of(given);
  job.plan.tensor = 8;
  job.plan.pipeline = 8;
  job.plan.data = 2;
  job.global_batch = 64;
  const auto program = *build_program(job);
  const Estimate answer = *estimate(job, program);
  CHECK(answer.breakdown.total() == doctest::Approx(static_cast<double>(answer.step_ns)));
  CHECK(answer.breakdown.bubble > 0);
  const auto range = *ranged_step(job, program);
  CHECK(range.step_ns == answer.step_ns);
  CHECK(range.low_ns < answer.step_ns);
  CHECK(range.high_ns > answer.step_ns);
}

TEST_CASE("estimate: a range is what was measured of such steps, whatever its sources add up to") {
  JobParts given = selene("gpt3_175b");
  Job job = job_of(given);
  job.plan.tensor = 8;
  const auto program = *build_program(job);
  given.framework.evidence = nullptr;
  const auto alone = *ranged_step(job, program);
  CHECK(alone.basis.empty());
  const auto step = static_cast<double>(alone.step_ns);
  for (const double width : {0.001, 0.02, 0.1, 0.5, 0.9}) {
    CAPTURE(width);
    foretrace::Evidence evidence;
    evidence.kinds[0].families = {{.first = given.framework.name,
                                   .second = given.cluster.accelerator.name,
                                   .cells = 10,
                                   .least_ranks = 1,
                                   .most_ranks = 1024,
                                   .publishers = {},
                                   .factor = {1, 1 - width, 1 + 2 * width}}};
    given.framework.evidence = std::make_shared<const foretrace::Evidence>(evidence);
    const auto range = *ranged_step(job, program);
    CHECK(range.step_ns == alone.step_ns);
    // Nor is it shorter than the units at their peaks: 36 % of this step.
    CHECK(range.least_ns == doctest::Approx(0.36 * step).epsilon(0.01));
    CHECK(static_cast<double>(range.low_ns) ==
          doctest::Approx(std::max(step * (1 - width), range.least_ns)));
    CHECK(static_cast<double>(range.high_ns) == doctest::Approx(step * (1 + 2 * width)));
    // Without what the framework leaves open, no more than that and no more than the sources.
    const auto known = foretrace::without(range, foretrace::CostSource::framework);
    CHECK(known.high_ns <= std::min(range.high_ns, alone.high_ns) + 1);
    CHECK(known.low_ns >= std::max(range.low_ns, alone.low_ns) - 1);
  }
  // Nobody measured what has experts.
  given.model.transformer.experts.count = 8;
  CHECK(ranged_step(job, program)->basis.find("no evidence") != std::string::npos);
}

TEST_CASE("estimate: more of anything never makes a step shorter") {
  const JobParts given = selene("gpt_22b");
  Job job = job_of(given);
  job.plan.tensor = 8;
  job.global_batch = 8;
  const auto step = [](const Job& one) { return estimate(one)->step_ns; };
  const std::int64_t base = step(job);
  Job longer = job;
  longer.length = 4096;
  CHECK(step(longer) > base);
  Job batch = job;
  batch.global_batch = 16;
  CHECK(step(batch) > base);
  Job again = job;
  again.recompute = Recompute::selective;
  const std::int64_t selective = step(again);
  CHECK(selective > base);
  again.recompute = Recompute::full;
  CHECK(step(again) > selective);
}

TEST_CASE("estimate: memory follows the formulas of ZeRO") {
  const JobParts given = selene("gpt_7.5b");
  Job job = job_of(given);
  job.plan.data = 8;
  job.global_batch = 8;
  const auto held = [&](Sharding sharding) {
    job.plan.sharding = sharding;
    return estimate(job)->memory.front();
  };
  const StageMemory none = held(Sharding::none);
  const double parameters = none.weights / 2;
  CHECK(none.gradients == doctest::Approx(4 * parameters));
  CHECK(none.optimizer == doctest::Approx(12 * parameters));
  CHECK(held(Sharding::optimizer).optimizer == doctest::Approx(12 * parameters / 8));
  CHECK(held(Sharding::gradients).gradients == doctest::Approx(4 * parameters / 8));
  CHECK(held(Sharding::parameters).weights == doctest::Approx(2 * parameters / 8));
}

TEST_CASE("estimate: recomputation trades memory for time") {
  const JobParts given = selene("gpt_22b");
  Job job = job_of(given);
  job.plan.tensor = 8;
  job.micro_batch = job.global_batch = 4;
  const Estimate none = *estimate(job);
  job.recompute = Recompute::full;
  const Estimate full = *estimate(job);
  CHECK(total(full) < total(none));
  CHECK(full.again_ns > 0);
  CHECK(none.again_ns == 0);
}

TEST_CASE("estimate: with equal stages the formula is the simulated step") {
  // Without embedding and head all stages would be equal; here the last one is the slowest, and the
  // formula counts its path.
  const JobParts given = selene("gpt3_175b");
  Job job = job_of(given);
  job.plan.tensor = 8;
  job.plan.pipeline = 8;
  job.global_batch = 32;
  const auto program = *build_program(job);
  const Estimate answer = *estimate(job, program);
  const auto topology = foretrace::pipeline_topology(*job.schedule, job.shape(), false, false);
  REQUIRE(topology.ok());
  const auto graph = pipeline_graph(*topology, program.step);
  foretrace::Timeline timeline;
  foretrace::simulate_event_driven(graph.topology(), graph.weights(), timeline);
  CHECK(timeline.span_ns == answer.step_ns);
}

TEST_CASE("estimate: decoding counts one token per sequence and holds keys and values of all") {
  const JobParts given = selene("llama3_70b");
  Job job = job_of(given);
  job.pass = foretrace::Pass::decode;
  job.keys = 4096;
  job.plan.tensor = 8;
  job.global_batch = job.micro_batch = 64;
  CHECK(job.tokens_per_step() == 64);
  const Estimate answer = *estimate(job);
  // 80 layers x 4096 positions x 64 sequences x 2 x 1 head of 128 x 2 bytes
  CHECK(answer.memory.front().activations == doctest::Approx(80. * 4096 * 64 * 2 * 128 * 2));
  Job longer = job;
  longer.keys = 8192;
  CHECK(estimate(longer)->step_ns > answer.step_ns);
}

TEST_CASE("estimate: tokens that go once to each node, beside other work, cost less") {
  JobParts given = selene("deepseek_v3");
  given.cluster = *find_cluster(*foretrace::test::shipped(), "h800_x8");
  given.framework.overlaps_experts = given.framework.forwards_tokens = false;
  Job job = job_of(given);
  job.plan.data = 64;
  job.plan.expert = 64;
  job.global_batch = 64;
  const auto exposed = [&] {
    return estimate(job)->breakdown.exposed[static_cast<std::size_t>(foretrace::Axis::expert)];
  };
  const double all = exposed();
  given.framework.forwards_tokens = true;
  const double forwarded = exposed();
  CHECK(forwarded < 0.7 * all);
  given.framework.overlaps_experts = true;
  const Estimate beside = *estimate(job);
  CHECK(exposed() < forwarded);
  CHECK(beside.overlapped_ns > 0);
  CHECK(beside.breakdown.total() == doctest::Approx(static_cast<double>(beside.step_ns)));
}

TEST_CASE("estimate: convolutions of TF32 alone have their numbers turned round") {
  const JobParts given = selene("resnet50", "nvidia_resnet_2021");
  Job job = job_of(given);
  job.length = 1;
  job.global_batch = job.micro_batch = 256;
  for (const auto& [precision, turned] : {std::pair{foretrace::Precision::tf32, true},
                                          std::pair{foretrace::Precision::fp16, false}}) {
    job.precisions.activations = precision;
    CHECK(kernel_set(job).channels_first == turned);
  }
}
