#include "models/jobs/parallelism/plan.h"

#include <cstdint>

#include <doctest/doctest.h>

using namespace foretrace;

TEST_CASE("plan: groups of no rank, and more ranks than can be counted, are refused") {
  TransformerSpec spec;
  spec.layers = 4;
  spec.hidden = 64;
  spec.heads = spec.kv_heads = 8;
  spec.ffn = 256;
  CHECK(check_plan(ParallelPlan{}, spec).ok());
  for (std::uint32_t ParallelPlan::*const size :
       {&ParallelPlan::data, &ParallelPlan::tensor, &ParallelPlan::pipeline, &ParallelPlan::context,
        &ParallelPlan::expert, &ParallelPlan::expert_tensor}) {
    for (const std::uint32_t impossible : {0U, UINT32_MAX}) {
      ParallelPlan plan;
      plan.*size = impossible;
      CHECK_FALSE(check_plan(plan, spec).ok());
    }
  }
  ParallelPlan plan;
  plan.tensor = 0;
  CHECK(check_plan(plan, spec).error().message == "tensor: got 0, expected 1 to 100000000");
  // Each can be, and together they are more than 32 bits hold.
  plan.tensor = 8;
  plan.data = plan.pipeline = 100'000;
  CHECK(check_plan(plan, spec).error().message ==
        "data: got 80000000000 ranks in all, expected at most 100000000");
}
