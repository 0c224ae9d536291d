#include <cmath>

#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& tt_embedding;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::tt_embedding;

namespace {

foretrace::TaskGraph lookup(std::string_view shapes) {
  ToyRun run;
  run.kernel({.name = "indexSelectLargeIndex",
              .duration_ns = 50000,
              .operator_name = "aten::embedding",
              .shapes = shapes});
  return run.build();
}
constexpr const char* kernel = "indexSelectLargeIndex";

/// q = 4, r = 32: slices of 4 x 32, 32 x 4 x 32 and 32 x 4 numbers, 16 x 32 written and read again,
/// 64 written, between 0.80 and 0.17 of the bandwidth (see bandwidth_share).
double row_ns(const foretrace::Accelerator& accelerator) {
  return 4 * (2 * 128 + 4096 + 2 * 512 + 64) /
         (std::sqrt(0.80 * 0.17) * accelerator.memory_bandwidth) * 1e9;
}

}  // namespace

TEST_CASE("tt_embedding: a row costs two small products") {
  const auto a100 = toy_accelerator();
  const char* shapes = "[[8000000, 64], [1024, 10]]";
  const foretrace::test::Given given = {{"rank", "32"}};
  CHECK(duration_of(after(lookup(shapes), tt_embedding, given, &a100), kernel) ==
        doctest::Approx(1800 + 10240 * row_ns(a100)).epsilon(1e-3));
  // 2 x 16 x 32 x 32 + 2 x 64 x 32 FLOPs for each of 10240 rows at 2 % of the rate.
  const double measured =
      10240.0 * (2 * 16 * 32 * 32 + 2 * 64 * 32) / (0.02 * a100.vector_fp32_flops) * 1e9;
  CHECK(duration_of(
            after(lookup(shapes), tt_embedding, {{"rank", "32"}, {"efficiency", "0.02"}}, &a100),
            kernel) == doctest::Approx(1800 + measured).epsilon(1e-3));
  const auto change = apply_to(lookup(shapes), tt_embedding, given, &a100);
  REQUIRE(change.ok());
  // p = 200: 4 x (200 x 4 x 32 x 2 + 32 x 200 x 4 x 32) bytes instead of 2048 MB.
  CHECK(change->notes[0].find("2048.0 MB -> 3.482 MB") != std::string::npos);
}

TEST_CASE("tt_embedding: cached rows only move") {
  const auto a100 = toy_accelerator();
  const auto cached = after(lookup("[[8000000, 64], [1024, 10]]"), tt_embedding,
                            {{"rank", "32"}, {"hit", "1"}}, &a100);
  CHECK(duration_of(cached, kernel) < 15000);
}

TEST_CASE("tt_embedding: small tables and unknown shapes stay") {
  const auto a100 = toy_accelerator();
  for (const char* shapes : {"[[500, 64], [10]]", ""}) {
    const auto declined = apply_to(lookup(shapes), tt_embedding, {{"rank", "8"}}, &a100);
    REQUIRE_FALSE(declined.ok());
    CHECK(declined.error().code == ErrorCode::no_match);
  }
}

TEST_CASE("tt_embedding: backward costs three times as much, with the table of the lookup before") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  const auto side = run.add_stream(9);
  const auto looked_up = run.kernel({.name = "indexSelectLargeIndex",
                                     .duration_ns = 50000,
                                     .operator_name = "aten::embedding",
                                     .shapes = "[[8000000, 64], [1024, 10], [], [], []]",
                                     .types = R"(["float", "long int", "Scalar", "", ""])"});
  run.bystander(side, looked_up, 100);
  // Gradients of 1024 x 10 rows, not of 1024 x 10 x 64.
  run.kernel({.name = "embedding_backward_feature_kernel",
              .duration_ns = 50000,
              .operator_name = "aten::embedding_dense_backward",
              .shapes = "[[1024, 10, 64], [1024, 10], [], [], []]",
              .phase = Phase::backward,
              .types = R"(["float", "long int", "Scalar", "", ""])"});
  CHECK(duration_of(after(run.build(), tt_embedding, {{"rank", "32"}}, &a100),
                    "embedding_backward_feature_kernel") ==
        doctest::Approx(1800 + 3 * 10240 * row_ns(a100)).epsilon(1e-3));
}

TEST_CASE("tt_embedding: a log of the public code lies in the range") {
  // FBTT-Embedding on a V100: 0.416 us per row, forward and backward, rank 32, width 64.
  auto v100 = toy_accelerator();
  v100.memory_bandwidth = 900e9;
  v100.vector_fp32_flops = 15.7e12;
  const auto change =
      apply_to(lookup("[[11000000, 64], [512, 20]]"), tt_embedding, {{"rank", "32"}}, &v100);
  REQUIRE(change.ok());
  REQUIRE(change->durations.size() == 1);
  const auto& edit = change->durations[0];
  const double both_ns = 4 * (static_cast<double>(edit.duration_ns) - 1800) / 10240;
  CHECK(static_cast<double>(edit.low) * both_ns < 416);
  CHECK(static_cast<double>(edit.high) * both_ns > 416);
}

TEST_CASE("tt_embedding: generated kernels that look up among other things stay") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  run.kernel({.name = "triton_poi_fused_embedding_0",
              .duration_ns = 50000,
              .operator_name = "triton_poi_fused_embedding_0",
              .shapes = "[[32768], [50304, 768], [32768, 768], []]"});
  CHECK_FALSE(apply_to(run.build(), tt_embedding, {{"rank", "8"}}, &a100).ok());
}

TEST_CASE("tt_embedding: fused lookups of several tables follow from their time and given sizes") {
  const auto a100 = toy_accelerator();
  constexpr const char* forward = "split_embedding_codegen_forward_unweighted_kernel<float>";
  constexpr const char* backward =
      "split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel_warp_per_row_1<float>";
  ToyRun run;
  const auto side = run.add_stream(9);
  const auto first = run.kernel({.name = forward, .duration_ns = 2'000'000});
  run.bystander(side, first, 100'000);
  run.kernel({.name = backward, .duration_ns = 1'500'000, .phase = Phase::backward});
  run.kernel({.name = "split_embedding_backward_codegen_find_long_segments",
              .duration_ns = 4'000,
              .phase = Phase::backward});
  run.synchronize();
  const auto graph = run.build();
  const auto unknown = apply_to(graph, tt_embedding, {{"rank", "32"}}, &a100);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().message.find("table_rows") != std::string::npos);
  CHECK_FALSE(apply_to(graph, tt_embedding, {{"rank", "32"}, {"width", "64"}}, &a100).ok());
  const auto changed =
      after(graph, tt_embedding,
            {{"rank", "32"}, {"table_rows", "8e6"}, {"width", "64"}, {"tables", "4"}}, &a100);
  // Rows of the forward kernel: what a gather moves in 2 ms less its start, read and written.
  const double rows_of_forward =
      (static_cast<double>(duration_of(changed, forward)) - 1800) / row_ns(a100);
  const double rows_of_backward =
      (static_cast<double>(duration_of(changed, backward)) - 1800) / row_ns(a100) / 3;
  // 2 ms of which two parts are rows, 1.5 ms of which three are.
  CHECK(rows_of_forward / rows_of_backward ==
        doctest::Approx((2'000'000 - 1800) / 2.0 / ((1'500'000 - 1800) / 3.0)).epsilon(1e-3));
  CHECK(duration_of(changed, "split_embedding_backward_codegen_find_long_segments") == 4'000);
}
