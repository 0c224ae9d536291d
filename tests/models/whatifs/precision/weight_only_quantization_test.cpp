#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& weight_only_quantization;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::TaskGraph;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::weight_only_quantization;

namespace {

// A token's product, a prompt's product, and a kernel of another stream that waits for the first.
TaskGraph decode(Phase phase = Phase::forward) {
  ToyRun run;
  const auto side = run.add_stream(9);
  const auto token = run.kernel({.name = "token_fp16_s16816gemm_fp16_64x64",
                                 .duration_ns = 102'000,
                                 .operator_name = "aten::mm",
                                 .shapes = "[[1, 8192], [8192, 8192]]",
                                 .phase = phase});
  run.bystander(side, token, 300'000);
  run.kernel({.name = "prompt_fp16_s16816gemm_fp16_256x128",
              .duration_ns = 250'000,
              .operator_name = "aten::mm",
              .shapes = "[[2048, 8192], [8192, 8192]]",
              .phase = phase});
  run.builder().add_tensor(
      {.bytes = 8192 * 8192 * 2, .device = 0, .category = foretrace::TensorCategory::weight});
  run.synchronize();
  return run.build();
}

}  // namespace

TEST_CASE("weight_only_quantization: few rows read a quarter and scales, many rows stay") {
  const auto a100 = toy_accelerator();
  const auto graph = decode();
  const auto four =
      after(graph, weight_only_quantization, {{"bits", "4"}, {"efficiency", "1"}}, &a100);
  // 4.25 of 16 bit per weight: 4 of a weight, and 4 bytes for every 128.
  const double share =
      static_cast<double>(duration_of(four, "token_fp16_s16816gemm_fp16_64x64")) / 102000.0;
  CHECK(share > 4.25 / 16);
  CHECK(share < 4.25 / 16 + 0.05);  // start and end stay
  CHECK(duration_of(four, "prompt_fp16_s16816gemm_fp16_256x128") == 250'000);
  // The other stream waits for the product as before.
  CHECK(span_ns(four) == duration_of(four, "token_fp16_s16816gemm_fp16_64x64") + 300'000);
  CHECK(span_ns(graph) == 102'000 + 300'000);
}

TEST_CASE("weight_only_quantization: a slow kernel, training and unknown shapes change nothing") {
  const auto a100 = toy_accelerator();
  const auto slow =
      apply_to(decode(), weight_only_quantization, {{"bits", "8"}, {"efficiency", "0.4"}}, &a100);
  REQUIRE_FALSE(slow.ok());
  CHECK(slow.error().code == ErrorCode::no_match);
  CHECK_FALSE(
      apply_to(decode(Phase::backward), weight_only_quantization, {{"bits", "4"}}, &a100).ok());
}
