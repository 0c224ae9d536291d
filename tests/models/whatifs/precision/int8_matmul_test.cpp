#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& int8_matmul;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::int8_matmul;

namespace {

foretrace::TaskGraph linear(std::string_view shapes, Phase phase = Phase::forward) {
  ToyRun run;
  run.kernel({.name = "ampere_fp16_s16816gemm_fp16_256x128_tn",
              .duration_ns = 1000000,
              .operator_name = "aten::mm",
              .shapes = shapes,
              .phase = phase});
  return run.build();
}

}  // namespace

TEST_CASE("int8_matmul: a large product gets the ratio of rates, with three kernels around it") {
  const auto a100 = toy_accelerator();
  const auto graph = linear("[[8192, 8192], [8192, 8192]]");
  const auto int8 = after(graph, int8_matmul, {}, &a100);
  // The A100's int8 units are twice as fast as its fp16 units.
  CHECK(duration_of(int8, "ampere_fp16_s16816gemm_fp16_256x128_tn") ==
        doctest::Approx(500000).epsilon(0.25));
  CHECK(count_of(int8, "product of outlier columns") == 1);
  // Reads m k twice in 2 bytes, writes it in 1: 8192 x 8192 x 5 bytes at 0.80 of the bandwidth.
  const double quantize = 1800 + 8192.0 * 8192 * 5 / (0.80 * a100.memory_bandwidth) * 1e9;
  CHECK(duration_of(int8, "quantize rows to int8") == doctest::Approx(quantize).epsilon(1e-4));
  const double dequantize = 1800 + 8192.0 * 8192 * 8 / (0.80 * a100.memory_bandwidth) * 1e9;
  CHECK(duration_of(int8, "dequantize and add") == doctest::Approx(dequantize).epsilon(1e-4));
  CHECK(count_of(after(graph, int8_matmul, {{"outliers", "0"}}, &a100),
                 "product of outlier columns") == 0);
}

TEST_CASE("int8_matmul: backward, small layers and attention stay") {
  const auto a100 = toy_accelerator();
  CHECK_FALSE(apply_to(linear("[[64, 256], [256, 64]]"), int8_matmul, {}, &a100).ok());
  CHECK_FALSE(
      apply_to(linear("[[8192, 8192], [8192, 8192]]", Phase::backward), int8_matmul, {}, &a100)
          .ok());
  const auto unknown = apply_to(linear(""), int8_matmul, {}, &a100);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == ErrorCode::no_match);
}

TEST_CASE("int8_matmul: an accelerator without int8 units is declined") {
  const auto v100 = toy_accelerator("v100_sxm2_32gb");
  const auto declined = apply_to(linear("[[8192, 8192], [8192, 8192]]"), int8_matmul, {}, &v100);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::unsupported);
}

TEST_CASE("int8_matmul: a run that trains is declined, its forward pass as well") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  const auto side = run.add_stream(9);
  const auto product = run.kernel({.name = "ampere_fp16_s16816gemm_fp16_256x128_tn",
                                   .duration_ns = 1000000,
                                   .operator_name = "aten::mm",
                                   .shapes = "[[8192, 8192], [8192, 8192]]"});
  run.bystander(side, product, 100);
  run.kernel({.name = "elementwise_kernel", .duration_ns = 10, .phase = Phase::backward});
  const auto declined = apply_to(run.build(), int8_matmul, {}, &a100);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().message.find("the run trains") != std::string::npos);
}
