#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& nm_sparsity;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::nm_sparsity;

namespace {

foretrace::TaskGraph linear(std::string_view shapes) {
  ToyRun run;
  run.kernel({.name = "ampere_fp16_s16816gemm_fp16_256x128_tn",
              .duration_ns = 1000000,
              .operator_name = "aten::mm",
              .shapes = shapes});
  return run.build();
}
constexpr const char* kernel = "ampere_fp16_s16816gemm_fp16_256x128_tn";

}  // namespace

TEST_CASE("nm_sparsity: with hardware units 2:4 halves a product bound by arithmetic") {
  const auto a100 = toy_accelerator();
  const auto sparse = after(linear("[[8192, 8192], [8192, 8192]]"), nm_sparsity,
                            {{"pattern", "2:4"}, {"efficiency", "1"}}, &a100);
  CHECK(duration_of(sparse, kernel) == doctest::Approx(500000).epsilon(0.02));
}

TEST_CASE("nm_sparsity: one row of activations moves the weights' bytes and their indices") {
  const auto a100 = toy_accelerator();
  const auto sparse = after(linear("[[1, 8192], [8192, 8192]]"), nm_sparsity,
                            {{"pattern", "2:4"}, {"efficiency", "1"}}, &a100);
  // 2 bytes become 0.5 x (2 + 2 bits): 9/16 of the time beyond the ramp-up of 4.2 us.
  const double bytes = 8192.0 * 8192 * 2 / (0.763 * a100.memory_bandwidth) * 1e9;
  const double expected = 1e6 * (4200 + bytes * 9 / 16) / (4200 + bytes);
  CHECK(duration_of(sparse, kernel) == doctest::Approx(expected).epsilon(0.01));
}

TEST_CASE("nm_sparsity: a sparse product that would be slower stays dense, as does N = M") {
  const auto a100 = toy_accelerator();
  const auto graph = linear("[[8192, 8192], [8192, 8192]]");
  CHECK(duration_of(after(graph, nm_sparsity, {{"pattern", "2:4"}, {"efficiency", "0.4"}}, &a100),
                    kernel) == 1000000);
  CHECK(duration_of(after(graph, nm_sparsity, {{"pattern", "4/4"}}, &a100), kernel) == 1000000);
}

TEST_CASE("nm_sparsity: bad patterns and unknown shapes are declined") {
  const auto a100 = toy_accelerator();
  for (const char* pattern : {"4:2", "2", "a:b", "0:4", "2:4x", ""}) {
    const auto bad =
        apply_to(linear("[[64, 64], [64, 64]]"), nm_sparsity, {{"pattern", pattern}}, &a100);
    REQUIRE_FALSE(bad.ok());
    CHECK(bad.error().code == ErrorCode::bad_usage);
  }
  CHECK(apply_to(linear(""), nm_sparsity, {{"pattern", "2:4"}}, &a100).error().code ==
        ErrorCode::no_match);
}
