#include "models/jobs/program/estimate.h"

#include <cmath>

#include <doctest/doctest.h>

#include "models/hardware/catalogue/accelerator.h"
#include "models/jobs/program/graphs/pipeline_graph.h"
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

TEST_CASE("estimate: what no file says of a program widens the range, by more with experts") {
  JobParts given = selene("gpt3_175b");
  Job job = job_of(given);
  job.plan.tensor = 8;
  const auto program = *build_program(job);
  given.framework.step_error = 0;
  const auto narrow = *ranged_step(job, program);
  given.framework.step_error = 0.25;
  const auto wide = *ranged_step(job, program);
  // Independent errors: the widths add up as squares, 25 % up and 1 - 1 / 1.25 = 20 % down.
  const auto step = static_cast<double>(narrow.step_ns);
  const auto above = static_cast<double>(narrow.high_ns) - step;
  const auto below = step - static_cast<double>(narrow.low_ns);
  CHECK(wide.step_ns == narrow.step_ns);
  CHECK(static_cast<double>(wide.high_ns) - step ==
        doctest::Approx(std::hypot(above, 0.25 * step)).epsilon(1e-6));
  CHECK(step - static_cast<double>(wide.low_ns) ==
        doctest::Approx(std::hypot(below, 0.20 * step)).epsilon(1e-6));
  CHECK(foretrace::without(wide, foretrace::CostSource::framework).high_ns == narrow.high_ns);
  CHECK(foretrace::step_error(given.framework, given.model.transformer) == 0.25);
  given.model.transformer.experts.count = 8;
  CHECK(foretrace::step_error(given.framework, given.model.transformer) ==
        given.framework.expert_step_error);
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
  const auto topology = foretrace::pipeline_topology(*job.schedule, job.shape(), false);
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
