#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& horizontal_fusion;
}

using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::ToyKernel;
using foretrace::test::ToyRun;
using foretrace::what_ifs::horizontal_fusion;

namespace {

constexpr ToyKernel product = {.name = "ampere_sgemm_128x64_tn",
                               .duration_ns = 1000,
                               .operator_name = "aten::mm",
                               .shapes = "[[8, 64], [64, 64]]"};
constexpr ToyKernel lookup = {.name = "indexSelectLargeIndex",
                              .duration_ns = 600,
                              .operator_name = "aten::index_select",
                              .shapes = "[[1000, 32], [10]]"};

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
  run.kernel({.name = "ampere_sgemm_128x64_tn",
              .duration_ns = 1000,
              .operator_name = "aten::mm",
              .shapes = "[[16, 32], [32, 64]]"});
  run.kernel(product);
  const auto declined = apply_to(run.build(), horizontal_fusion,
                                 {{"a", "name~gemm"}, {"b", "name~gemm"}, {"conflict", "1.2"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().message == "none of 1 pairs would be faster fused");
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

TEST_CASE("horizontal_fusion: a kernel and the one that reads its result stay two") {
  ToyRun run;
  const auto side = run.add_stream(9);
  const auto made = run.kernel(product);
  // 8 x 64 numbers: what the product writes.
  run.kernel({.name = "indexSelectLargeIndex",
              .duration_ns = 600,
              .operator_name = "aten::index_select",
              .shapes = "[[512], [10]]"});
  run.bystander(side, made, 100);
  const auto declined =
      apply_to(run.build(), horizontal_fusion, {{"a", "name~gemm"}, {"b", "name~index"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().message.find("the second may read what the first writes") !=
        std::string::npos);
}

TEST_CASE("horizontal_fusion: without shapes the user has to say that a pair is independent") {
  const auto bare = [] {
    ToyRun run;
    run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 1000});
    run.kernel({.name = "indexSelectLargeIndex",
                .duration_ns = 600,
                .operator_name = "aten::index_select"});
    return run.build();
  };
  CHECK_FALSE(apply_to(bare(), horizontal_fusion, {{"a", "name~gemm"}, {"b", "name~index"}}).ok());
  CHECK(count_of(after(bare(), horizontal_fusion,
                       {{"a", "name~gemm"}, {"b", "name~index"}, {"independent", "true"}}),
                 "horizontally fused pair") == 1);
}

TEST_CASE("horizontal_fusion: the two gradients of one product are independent") {
  ToyRun run;
  constexpr auto backward = foretrace::Phase::backward;
  constexpr const char* op = "aten::convolution_backward";
  constexpr const char* shapes = "[[8, 64, 32, 32], [8, 64, 32, 32], [64, 64, 3, 3]]";
  run.kernel({.name = "cudnn_dgrad_implicit_gemm",
              .duration_ns = 1000,
              .operator_name = op,
              .shapes = shapes,
              .phase = backward});
  run.kernel({.name = "cudnn_wgrad_implicit_gemm",
              .duration_ns = 600,
              .operator_name = op,
              .shapes = shapes,
              .phase = backward});
  const auto fused = after(run.build(), horizontal_fusion,
                           {{"a", "name~dgrad"}, {"b", "name~wgrad"}, {"conflict", "0.5"}});
  CHECK(duration_of(fused, "horizontally fused pair") == 1300);
}
