#include "models/jobs/program/stages.h"

#include <vector>

#include <doctest/doctest.h>

#include "tests/models/jobs/program/selene_job.h"

using namespace foretrace;

TEST_CASE("stages: layers spread evenly leave first and last the fewer") {
  // 11 over 4: 2 each, the rest to positions 1, 2 and then 0.
  CHECK(even_layers(11, 4) == std::vector<std::uint32_t>{3, 3, 3, 2});
  CHECK(even_layers(10, 4) == std::vector<std::uint32_t>{2, 3, 3, 2});
  CHECK(even_layers(3, 1) == std::vector<std::uint32_t>{3});
}

TEST_CASE("stages: ranks are numbered stage by stage, and neighbours in a node have its links") {
  const test::JobParts parts = test::selene("gpt_22b");
  Job job = test::job_of(parts);
  job.plan.pipeline = 3;
  job.micro_batch = job.global_batch = 4;
  job.stages = {{10, 4, 1}, {18, 2, 2}, {20, 4, 2}};
  CHECK(job.ranks() == 16);
  CHECK(first_rank(job, 2) == 8);
  CHECK(stage_ranks(job, 1) == 4);
  CHECK(check_job(job).ok());
  // Ranks 0 to 7 are one node of 8; 4 to 15 are two.
  CHECK(boundary_axis(job, 0) == GridAxis{2, 1});
  CHECK(boundary_axis(job, 1) == GridAxis{2, 8});
  CHECK(stage_plan(job, 1).sequence);
  CHECK_FALSE(stage_plan(job, 0).sequence);
  CHECK(batch_parts(job, 0) == 4);
}

TEST_CASE("stages: stages that are alike keep the job's plan") {
  const test::JobParts parts = test::selene("gpt_22b");
  Job job = test::job_of_64(parts);
  job.stages = {{10}, {14}, {14}, {10}};
  CHECK(check_job(job).ok());
  CHECK_FALSE(job.has_own_ranks());
  CHECK(stage_plan(job, 2) == job.plan);
  CHECK(stage_ranks(job, 1) == 16);
  CHECK(first_rank(job, 3) == 48);
  CHECK(layers_by_position(job) == std::vector<std::uint32_t>{10, 14, 14, 10});
  job.stages.back().layers = 9;
  CHECK_FALSE(check_job(job).ok());
}
