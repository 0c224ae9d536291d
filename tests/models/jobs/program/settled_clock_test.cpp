#include <doctest/doctest.h>

#include "models/jobs/program/rank_program.h"
#include "tests/models/jobs/program/selene_job.h"

using namespace foretrace;

namespace {

/// Of products: the less, the higher the clock.
double product_scale(Job job, std::uint32_t pipeline, double micro_batches) {
  job.plan.pipeline = pipeline;
  job.plan.data = 1;
  job.global_batch = job.micro_batch * micro_batches;
  return settled_scale(job, lower_blocks(job))[static_cast<std::size_t>(CostSource::product)];
}

}  // namespace

TEST_CASE("settled clock: only waits that power is averaged over let it rise") {
  const test::JobParts large = test::selene("gpt_530b");
  Job job = test::job_of(large);
  job.plan.tensor = 8;
  job.recompute = Recompute::full;
  job.micro_batch = 16;
  const double alone = product_scale(job, 1, 8);
  // Stages that wait seven eighths of a step do so for more than a minute in one piece: counted in full they
  // would let the clock rise to its end.
  const double waiting = product_scale(job, 35, 5);
  CHECK(waiting > 0.95 * alone);
  CHECK(waiting < alone);

  // A wait of 0.2 s counts in good part, one of minutes hardly.
  const test::JobParts small = test::selene("gpt_22b");
  Job quick = test::job_of(small);
  quick.plan.tensor = 8;
  quick.length = 2048;
  CHECK(product_scale(quick, 4, 1) < 0.95 * product_scale(quick, 1, 1));
  Job longer = quick;
  longer.micro_batch = 1024;
  CHECK(product_scale(longer, 4, 1) > 0.97 * product_scale(longer, 1, 1));
}

TEST_CASE("settled clock: jobs whose blocks and waits are equal have the same") {
  const test::JobParts parts = test::selene("gpt_22b");
  Job job = test::job_of_64(parts);
  Job other = job;
  other.global_batch *= 2;
  other.plan.data *= 2;
  CHECK(stage_waits(job) == stage_waits(other));
  other.plan.data = job.plan.data;
  CHECK(stage_waits(job) != stage_waits(other));
}
