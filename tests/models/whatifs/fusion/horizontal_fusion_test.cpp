#include "tests/models/toy_run.h"

namespace foretrace::optimizations {
extern const OptimizationInfo horizontal_fusion;
}

using foretrace::optimizations::horizontal_fusion;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::ToyKernel;
using foretrace::test::ToyRun;

namespace {

constexpr ToyKernel product = {.name = "ampere_sgemm_128x64_tn", .duration_ns = 1000};
constexpr ToyKernel lookup = {
    .name = "indexSelectLargeIndex", .duration_ns = 600, .operator_name = "aten::index_select"};

}  // namespace

TEST_CASE("horizontal_fusion: different bottlenecks overlap, a pair takes little more than one") {
  ToyRun run;
  run.kernel(product);
  run.kernel(lookup);
  const auto graph = run.build();
  const auto fused = after(graph, horizontal_fusion, {{"a", "name~gemm"}, {"b", "name~index"}});
  // Arithmetic beside latency: 1000 + 0.14 x 600.
  CHECK(duration_of(fused, "horizontally fused pair") == 1084);
  CHECK(count_of(fused, "cudaLaunchKernel") == 0);
  const auto own = after(graph, horizontal_fusion,
                         {{"a", "name~index"}, {"b", "name~gemm"}, {"conflict", "0.5"}});
  CHECK(duration_of(own, "horizontally fused pair") == 1300);
}

TEST_CASE("horizontal_fusion: pairs that want the same stay as they are") {
  ToyRun run;
  run.kernel(product);
  run.kernel(product);
  const auto declined =
      apply_to(run.build(), horizontal_fusion, {{"a", "name~gemm"}, {"b", "name~gemm"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().message == "none of 1 pairs would be faster as one");
}

TEST_CASE("horizontal_fusion: every kernel is in one pair, and pairs are neighbours") {
  ToyRun run;
  run.kernel(product);
  run.kernel(lookup);
  run.kernel(product);
  const auto fused =
      after(run.build(), horizontal_fusion, {{"a", "name~gemm"}, {"b", "name~index"}});
  CHECK(count_of(fused, "horizontally fused pair") == 1);
  CHECK(count_of(fused, "ampere_sgemm_128x64_tn") == 1);
  ToyRun apart;
  apart.kernel(product);
  apart.kernel({.name = "other", .duration_ns = 5});
  apart.kernel(lookup);
  CHECK_FALSE(
      apply_to(apart.build(), horizontal_fusion, {{"a", "name~gemm"}, {"b", "name~index"}}).ok());
}
