#include "tests/models/toy_run.h"

namespace foretrace::optimizations {
extern const OptimizationInfo hypergraph_fusion;
}

using foretrace::ErrorCode;
using foretrace::optimizations::hypergraph_fusion;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::ToyKernel;
using foretrace::test::ToyRun;

namespace {

constexpr ToyKernel spmm = {.name = "cusparse::csrmm_kernel", .duration_ns = 50900};

}  // namespace

TEST_CASE("hypergraph_fusion: as many hyperedges as vertices, half of the bytes") {
  ToyRun run;
  run.kernel(spmm);
  run.kernel(spmm);
  const auto fused = after(run.build(), hypergraph_fusion, {{"edges", "1"}, {"imbalance", "1"}});
  // 1.8 us of ramp-up once and half of 100 us.
  CHECK(duration_of(fused, "fused message passing") == 1800 + 50000);
  CHECK(count_of(fused, "cusparse::csrmm_kernel") == 0);
}

TEST_CASE("hypergraph_fusion: a third sparse product waits for a partner") {
  ToyRun run;
  for (int i = 0; i < 3; ++i) run.kernel(spmm);
  const auto fused = after(run.build(), hypergraph_fusion);
  CHECK(count_of(fused, "fused message passing") == 1);
  CHECK(count_of(fused, "cusparse::csrmm_kernel") == 1);
}

TEST_CASE("hypergraph_fusion: something in between is declined") {
  ToyRun run;
  run.kernel(spmm);
  run.kernel({.name = "elementwise_kernel", .duration_ns = 10});
  run.kernel(spmm);
  const auto declined = apply_to(run.build(), hypergraph_fusion);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}
