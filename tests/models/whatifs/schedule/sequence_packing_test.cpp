#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& sequence_packing;
}

using foretrace::ErrorCode;
using foretrace::TaskGraph;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::sequence_packing;

namespace {

constexpr const char* linear = "linear_fp16_s16816gemm_fp16_256x128_tn";
constexpr const char* scores = "scores_fp16_s16816gemm_fp16_256x128_tn";
constexpr const char* values = "values_fp16_s16816gemm_fp16_256x128_tn";
constexpr const char* softmax = "softmax_warp_forward<c10::Half>";
constexpr const char* fused = "pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>";

// 8 samples of 1024 positions, 16 heads of 64; another stream waits for the linear layer.
TaskGraph layer(bool is_fused) {
  ToyRun run;
  const auto side = run.add_stream(9);
  const auto first = run.kernel({.name = linear,
                                 .duration_ns = 500'000,
                                 .operator_name = "aten::mm",
                                 .shapes = "[[8192, 4096], [4096, 4096]]"});
  run.bystander(side, first, 400'000);
  if (is_fused) {
    run.kernel({.name = fused, .duration_ns = 1'002'000});
  } else {
    run.kernel({.name = scores,
                .duration_ns = 200'000,
                .operator_name = "aten::bmm",
                .shapes = "[[128, 1024, 64], [128, 64, 1024]]"});
    run.kernel({.name = softmax, .duration_ns = 101'800});
    run.kernel({.name = values,
                .duration_ns = 200'000,
                .operator_name = "aten::bmm",
                .shapes = "[[128, 1024, 1024], [128, 1024, 64]]"});
  }
  run.synchronize();
  return run.build();
}

}  // namespace

TEST_CASE("sequence_packing: rows follow the tokens, fused attention the pairs within samples") {
  const auto a100 = toy_accelerator();
  const auto packed = after(layer(true), sequence_packing,
                            {{"fill", "0.5"}, {"variation", "0.6"}, {"packed", "1"}}, &a100);
  CHECK(duration_of(packed, linear) == doctest::Approx(250'000).epsilon(0.05));
  // 0.5 x 0.5 x (1 + 0.36) = 0.34 of the pairs
  CHECK(duration_of(packed, fused) == doctest::Approx(340'000).epsilon(0.03));
  // The other stream has positions, too: it waits for the linear layer and ends before attention.
  CHECK(span_ns(packed) == duration_of(packed, linear) + duration_of(packed, fused));
}

TEST_CASE("sequence_packing: single operators mask what lies between samples and do whole rows") {
  const auto a100 = toy_accelerator();
  const auto packed =
      after(layer(false), sequence_packing, {{"fill", "0.5"}, {"packed", "1"}}, &a100);
  CHECK(duration_of(packed, scores) == doctest::Approx(100'000).epsilon(0.05));
  CHECK(duration_of(packed, softmax) == doctest::Approx(51'800).epsilon(0.05));
  CHECK(duration_of(packed, values) == doctest::Approx(100'000).epsilon(0.05));
}

TEST_CASE("sequence_packing: images and flat lists of tokens have no padding, and are declined") {
  ToyRun vision;
  vision.kernel({.name = "implicit_convolve_sgemm",
                 .duration_ns = 100'000,
                 .operator_name = "aten::cudnn_convolution",
                 .shapes = "[[8, 3, 224, 224], [768, 3, 16, 16]]"});
  vision.kernel({.name = fused, .duration_ns = 1'002'000});
  const auto patches = apply_to(vision.build(), sequence_packing, {{"fill", "0.5"}});
  REQUIRE_FALSE(patches.ok());
  CHECK(patches.error().code == ErrorCode::no_match);
  CHECK(patches.error().message.find("positions are patches of images") == 0);
  ToyRun serving;
  serving.kernel({.name = fused,
                  .duration_ns = 50'000,
                  .operator_name = "vllm::unified_attention_with_output",
                  .shapes = "[[888, 8, 64], [888, 1, 64], [888, 1, 64]]"});
  serving.kernel({.name = linear,
                  .duration_ns = 30'000,
                  .operator_name = "aten::linear",
                  .shapes = "[[888, 512], [2880, 512]]"});
  const auto flat = apply_to(serving.build(), sequence_packing, {{"fill", "0.5"}});
  REQUIRE_FALSE(flat.ok());
  CHECK(flat.error().message.find("attention takes a flat list of 888 tokens") == 0);
}

TEST_CASE("sequence_packing: full rows, and runs without attention, are declined") {
  const auto a100 = toy_accelerator();
  const auto full = apply_to(layer(true), sequence_packing, {{"fill", "0.99"}}, &a100);
  REQUIRE_FALSE(full.ok());
  CHECK(full.error().code == ErrorCode::no_match);
  ToyRun run;
  run.kernel({.name = linear, .duration_ns = 10});
  CHECK_FALSE(apply_to(run.build(), sequence_packing, {{"fill", "0.5"}}, &a100).ok());
}
