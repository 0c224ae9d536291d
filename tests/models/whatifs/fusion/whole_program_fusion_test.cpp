#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& whole_program_fusion;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::ToyKernel;
using foretrace::test::ToyRun;
using foretrace::what_ifs::whole_program_fusion;

namespace {

constexpr ToyKernel tiny = {
    .name = "elementwise_kernel", .duration_ns = 1800, .launch_ns = 5000, .segment_ns = 20000};
constexpr ToyKernel norm = {.name = "vectorized_layer_norm_kernel", .duration_ns = 51800};

}  // namespace

TEST_CASE("whole_program_fusion: many tiny kernels collapse to about one launch") {
  ToyRun run;
  for (int i = 0; i < 20; ++i) run.kernel(tiny);
  run.mark();
  const auto graph = run.build();
  REQUIRE(span_ns(graph) > 20 * 25000);
  const auto one = after(graph, whole_program_fusion, {{"kept_host", "0"}});
  CHECK(duration_of(one, "fused region") == 1800);
  CHECK(span_ns(one) == 25000 + 1800);
}

TEST_CASE("whole_program_fusion: a reduction inside costs a grid synchronization") {
  ToyRun run;
  run.kernel(norm);
  run.kernel(norm);
  const auto graph = run.build();
  const auto cheap = after(graph, whole_program_fusion, {{"sync", "1 us"}});
  const auto dear = after(graph, whole_program_fusion, {{"sync", "2 us"}});
  CHECK(duration_of(dear, "fused region") - duration_of(cheap, "fused region") == 2000);
  // Where synchronizing costs more than fusion saves, the kernels stay.
  CHECK_FALSE(apply_to(graph, whole_program_fusion, {{"sync", "1 ms"}}).ok());
}

TEST_CASE("whole_program_fusion: a launch that is saved counts against a synchronization") {
  for (const std::int64_t kernel_ns : {40'000, 4'000, 400}) {
    CAPTURE(kernel_ns);
    ToyRun run;
    for (int i = 0; i < 2; ++i) {
      run.kernel({.name = norm.name, .duration_ns = kernel_ns, .launch_ns = 6000});
    }
    const auto fused = after(run.build(), whole_program_fusion, {{"sync", "2 us"}});
    CHECK(foretrace::test::count_of(fused, "fused region") == 1);
  }
}

TEST_CASE("whole_program_fusion: products and waits end a region") {
  ToyRun run;
  run.kernel(tiny);
  run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 10});
  run.kernel(tiny);
  run.synchronize();
  run.kernel(tiny);
  const auto declined = apply_to(run.build(), whole_program_fusion);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}

TEST_CASE("whole_program_fusion: long host time before a launch is other work, and stays") {
  foretrace::test::ToyRun run;
  const auto side = run.add_stream(9);
  for (int i = 0; i < 4; ++i) {
    const auto kernel = run.kernel({.name = "vectorized_elementwise_kernel<4, float>",
                                    .duration_ns = 30000,
                                    .operator_name = "aten::relu",
                                    .launch_ns = 5000,
                                    .segment_ns = i == 2 ? 5'000'000 : 2000});
    if (i == 0) run.bystander(side, kernel, 10);
  }
  const auto graph = run.build();
  const auto fused = foretrace::test::after(graph, whole_program_fusion, {{"kept_host", "0"}});
  CHECK(foretrace::test::count_of(fused, "fused region") >= 1);
  CHECK(foretrace::test::span_ns(fused) > 5'000'000);
  const auto all = foretrace::test::after(graph, whole_program_fusion,
                                          {{"kept_host", "0"}, {"max_segment", "1 s"}});
  CHECK(foretrace::test::span_ns(all) < 5'000'000);
}
