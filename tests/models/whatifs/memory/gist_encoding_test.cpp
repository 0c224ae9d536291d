#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& gist_encoding;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::gist_encoding;

namespace {

// A convolution that reads 10 million numbers, behind a ReLU, and its backward.
foretrace::TaskGraph one_layer(std::string_view before) {
  ToyRun run;
  run.kernel({.name = before, .duration_ns = 100000});
  run.kernel({.name = "implicit_convolve_sgemm<float, float>",
              .duration_ns = 100000,
              .operator_name = "aten::cudnn_convolution",
              .shapes = "[[10, 10, 316, 316], [10, 10, 3, 3]]"});
  run.kernel({.name = "backward wgrad", .duration_ns = 200000, .phase = Phase::backward});
  return run.build();
}
constexpr double numbers = 10.0 * 10 * 316 * 316;

double moved(const foretrace::Accelerator& on, double bytes) {
  return 1800 + bytes / (0.80 * on.memory_bandwidth) * 1e9;
}

}  // namespace

TEST_CASE("gist_encoding: sparse rows behind a ReLU, if the share of zeros is known") {
  const auto a100 = toy_accelerator();
  const auto graph = one_layer("relu elementwise_kernel");
  const auto sparse = after(graph, gist_encoding, {{"sparsity", "0.75"}}, &a100);
  // A quarter of the numbers, 5 bytes each, beside the map itself.
  CHECK(duration_of(sparse, "encode activation") ==
        doctest::Approx(moved(a100, numbers * (4 + 1.25))).epsilon(1e-4));
  CHECK(count_of(sparse, "decode activation") == 1);
}

TEST_CASE("gist_encoding: half of the bits for maps without a ReLU") {
  const auto a100 = toy_accelerator();
  const auto fewer = after(one_layer("my kernel"), gist_encoding, {{"sparsity", "0.75"}}, &a100);
  CHECK(duration_of(fewer, "encode activation") ==
        doctest::Approx(moved(a100, numbers * 6)).epsilon(1e-4));
}

TEST_CASE("gist_encoding: 32 bits are no code, and inference keeps nothing") {
  const auto a100 = toy_accelerator();
  const auto declined = apply_to(one_layer("my kernel"), gist_encoding, {{"bits", "32"}}, &a100);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
  // Without an accelerator and without kernels of known size there is no bandwidth to go by.
  const auto no_rate = apply_to(one_layer("my kernel"), gist_encoding);
  REQUIRE_FALSE(no_rate.ok());
  CHECK(no_rate.error().code == ErrorCode::missing_cost);
}
