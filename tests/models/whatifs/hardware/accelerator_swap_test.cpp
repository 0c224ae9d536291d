#include <cmath>

#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& accelerator_swap;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::accelerator_swap;

TEST_CASE("accelerator_swap: moving to the recorded accelerator changes nothing") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  run.kernel(
      {.name = "ampere_sgemm_128x64_tn", .duration_ns = 100000, .launch_ns = 5000, .lag_ns = 1500});
  run.kernel({.duration_ns = 20000, .launch_ns = 5000, .lag_ns = 1500, .gap_ns = 1200});
  const auto graph = run.build();
  CHECK(span_ns(after(graph, accelerator_swap, {{"to", "a100_sxm_40gb"}}, &a100)) ==
        span_ns(graph));
}

TEST_CASE("accelerator_swap: bytes follow the bandwidth, products the sustained rate") {
  const auto v100 = toy_accelerator("v100_sxm2_16gb");
  ToyRun run;
  run.kernel({.name = "elementwise_kernel<float>", .duration_ns = 101800});
  run.kernel({.name = "volta_fp16_s884gemm_fp16_128x128_nn",
              .duration_ns = 12000000,
              .operator_name = "aten::mm",
              .shapes = "[[8192, 8192], [8192, 8192]]"});
  const auto moved = after(run.build(), accelerator_swap, {{"to", "a100_sxm_40gb"}}, &v100);
  // 1.7 us of start and end become 1.8 us; 900 GB/s -> 1555 GB/s.
  CHECK(duration_of(moved, "elementwise_kernel<float>") ==
        1800 + std::llround((101800 - 1700) * 900.0 / 1555));
  CHECK(static_cast<double>(duration_of(moved, "volta_fp16_s884gemm_fp16_128x128_nn")) ==
        doctest::Approx(12e6 * 100 / 261).epsilon(0.03));
}

TEST_CASE("accelerator_swap: latency and gaps shift by the difference of the files") {
  const auto h100 = toy_accelerator("h100_sxm");
  ToyRun run;
  run.kernel({.name = "elementwise_kernel<float>",
              .duration_ns = 1000,
              .launch_ns = 5000,
              .lag_ns = 1700});
  const auto graph = run.build();
  REQUIRE(span_ns(graph) == 5000 + 1700 + 1000);
  // MI300X: 14.4 us after the call; a kernel of 1 us only starts and ends: 2.1 us -> 3.4 us.
  CHECK(span_ns(after(graph, accelerator_swap, {{"to", "mi300x"}}, &h100)) ==
        5000 + 14400 + std::llround(1000 * 3.4 / 2.1));
}

TEST_CASE("accelerator_swap: the host follows host_speed only") {
  const auto h100 = toy_accelerator("h100_sxm");
  ToyRun run;
  for (int i = 0; i < 10; ++i) {
    run.kernel({.name = "elementwise_kernel<float>",
                .duration_ns = 10,
                .launch_ns = 5000,
                .segment_ns = 15000});
  }
  const auto graph = run.build();
  const auto same = span_ns(after(graph, accelerator_swap, {{"to", "h200_sxm"}}, &h100));
  CHECK(same == span_ns(graph));
  const auto faster =
      span_ns(after(graph, accelerator_swap, {{"to", "h200_sxm"}, {"host_speed", "2"}}, &h100));
  CHECK(faster == 10 * 10000 + 10);
}

TEST_CASE("accelerator_swap: copies with the host and collectives stay") {
  const auto h100 = toy_accelerator("h100_sxm");
  ToyRun run;
  run.kernel({.name = "elementwise_kernel<float>", .duration_ns = 5000});
  run.kernel({.name = "Memcpy HtoD (Pageable -> Device)",
              .duration_ns = 7000,
              .kind = foretrace::TaskKind::copy});
  run.kernel(
      {.name = "ncclAllReduce", .duration_ns = 9000, .kind = foretrace::TaskKind::collective});
  const auto moved = after(run.build(), accelerator_swap, {{"to", "b200_sxm"}}, &h100);
  CHECK(duration_of(moved, "Memcpy HtoD (Pageable -> Device)") == 7000);
  CHECK(duration_of(moved, "ncclAllReduce") == 9000);
  CHECK(duration_of(moved, "elementwise_kernel<float>") < 5000);
}

TEST_CASE("accelerator_swap: declines units that the target lacks, unknown targets, empty runs") {
  const auto h100 = toy_accelerator("h100_sxm");
  ToyRun run;
  run.kernel({.name = "sm90_xmma_gemm_bf16bf16_bf16f32", .duration_ns = 5000});
  const auto graph = run.build();
  const auto no_units = apply_to(graph, accelerator_swap, {{"to", "t4"}}, &h100);
  REQUIRE_FALSE(no_units.ok());
  CHECK(no_units.error().message == "t4 has no bf16 units, which 1 products of the recording use");
  const auto unknown = apply_to(graph, accelerator_swap, {{"to", "h10_sxm"}}, &h100);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == ErrorCode::not_found);
  CHECK(unknown.error().message.find("did you mean 'h100_sxm'") != std::string::npos);
  ToyRun empty;
  empty.mark();
  const auto nothing = apply_to(empty.build(), accelerator_swap, {{"to", "t4"}}, &h100);
  REQUIRE_FALSE(nothing.ok());
  CHECK(nothing.error().code == ErrorCode::no_match);
}
