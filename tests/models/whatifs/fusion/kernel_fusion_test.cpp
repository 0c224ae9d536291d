#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& kernel_fusion;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::ToyKernel;
using foretrace::test::ToyRun;
using foretrace::what_ifs::kernel_fusion;

namespace {

// Reads one tensor and writes one: 100 us of bytes after 1.8 us of ramp-up.
constexpr ToyKernel relu = {.name = "vectorized_elementwise_kernel<4, float>",
                            .duration_ns = 101800,
                            .operator_name = "aten::relu",
                            .shapes = "[[1000000]]"};

}  // namespace

TEST_CASE("kernel_fusion: a chain reads its input and writes its output once") {
  ToyRun run;
  for (int i = 0; i < 3; ++i) run.kernel(relu);
  const auto fused = after(run.build(), kernel_fusion);
  // 3 x (read 50 + write 50) without 2 x (write + read): 100 us, and one ramp-up.
  CHECK(duration_of(fused, "fused kernel of 3") == 101800);
}

TEST_CASE("kernel_fusion: forward intermediates of a training run are still written in part") {
  ToyRun run;
  run.kernel(relu);
  run.kernel(relu);
  run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 10, .phase = Phase::backward});
  const auto graph = run.build();
  // One boundary: the read of 50 us is saved, and half of the write.
  CHECK(duration_of(after(graph, kernel_fusion), "fused kernel of 2") == 1800 + 200000 - 75000);
  CHECK(duration_of(after(graph, kernel_fusion, {{"kept_writes", "1"}}), "fused kernel of 2") ==
        1800 + 200000 - 50000);
}

TEST_CASE("kernel_fusion: a small kernel beside a large one saves little") {
  ToyRun run;
  run.kernel({.name = "elementwise_kernel<float>", .duration_ns = 101800});
  run.kernel({.name = "elementwise_kernel<float>", .duration_ns = 2800});
  const auto fused = after(run.build(), kernel_fusion, {{"side_inputs", "0"}});
  // Without shapes: two passes of the smaller one, 0.5 us each, and its ramp-up.
  CHECK(duration_of(fused, "fused kernel of 2") == 101800 + 1000 - 1000);
}

TEST_CASE("kernel_fusion: launches and the host time between them go") {
  ToyRun run;
  for (int i = 0; i < 5; ++i) {
    run.kernel({.duration_ns = 1, .launch_ns = 5000, .segment_ns = 20000});
  }
  run.mark();
  const auto graph = run.build();
  REQUIRE(span_ns(graph) == 5 * 25000 + 1);
  // One launch with its own segment, and a fifth of four other segments.
  CHECK(span_ns(after(graph, kernel_fusion)) == 25000 + 16000 + 1);
}

TEST_CASE("kernel_fusion: products, waits, other sizes and long host time cut chains") {
  const auto chains = [](auto between) {
    ToyRun run;
    run.kernel(relu);
    between(run);
    run.kernel(relu);
    return apply_to(run.build(), kernel_fusion).ok();
  };
  CHECK(chains([](ToyRun&) {}));
  CHECK_FALSE(chains(
      [](ToyRun& run) { run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 5}); }));
  CHECK_FALSE(chains([](ToyRun& run) { run.synchronize(); }));
  CHECK_FALSE(chains([](ToyRun& run) { run.mark(); }));
  ToyKernel other = relu;
  other.shapes = "[[500000]]";
  CHECK_FALSE(chains([&](ToyRun& run) { run.kernel(other); }));
  ToyRun slow;
  slow.kernel(relu);
  ToyKernel later = relu;
  later.segment_ns = 150000;
  slow.kernel(later);
  CHECK_FALSE(apply_to(slow.build(), kernel_fusion).ok());
}

TEST_CASE("kernel_fusion: one normalization joins a chain, a second one starts the next") {
  const ToyKernel norm = {.name = "vectorized_layer_norm_kernel<float>", .duration_ns = 50000};
  ToyRun run;
  run.kernel(relu);
  run.kernel(norm);
  run.kernel(norm);
  run.kernel(relu);
  const auto fused = after(run.build(), kernel_fusion);
  CHECK(count_of(fused, "fused kernel of 2") == 2);
}

TEST_CASE("kernel_fusion: only selected kernels fuse") {
  ToyRun run;
  run.kernel(relu);
  run.kernel(relu);
  const auto graph = run.build();
  const auto declined = apply_to(graph, kernel_fusion, {{"select", "phase=backward"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}
