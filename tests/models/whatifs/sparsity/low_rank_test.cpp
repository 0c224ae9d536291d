#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo low_rank;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyKernel;
using foretrace::test::ToyRun;
using foretrace::what_ifs::low_rank;

namespace {

constexpr ToyKernel forward = {.name = "ampere_sgemm_256x128_tn",
                               .duration_ns = 1000000,
                               .operator_name = "aten::addmm",
                               .shapes = "[[8192], [8192, 8192], [8192, 8192]]"};

}  // namespace

TEST_CASE("low_rank: a square layer with a quarter of the rank does half of the work") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  run.kernel(forward);
  ToyKernel gradient = forward;
  gradient.name = "weight gradient sgemm";
  gradient.operator_name = "aten::mm";
  gradient.shapes = "[[8192, 8192], [8192, 8192]]";
  gradient.phase = Phase::backward;
  run.kernel(gradient);
  const auto thin = after(run.build(), low_rank, {{"ratio", "0.25"}}, &a100);
  CHECK(duration_of(thin, "ampere_sgemm_256x128_tn") == doctest::Approx(250000).epsilon(0.03));
  CHECK(duration_of(thin, "weight gradient sgemm") == doctest::Approx(250000).epsilon(0.03));
  CHECK(count_of(thin, "second factor") == 2);
}

TEST_CASE("low_rank: a 3 x 3 convolution of 512 channels does 1 / 3.6 of the work") {
  ToyRun run;
  run.kernel({.name = "implicit_convolve_sgemm",
              .duration_ns = 4200 + 360000,
              .operator_name = "aten::cudnn_convolution",
              .shapes = "[[8, 512, 14, 14], [512, 512, 3, 3]]"});
  const auto thin = after(run.build(), low_rank, {{"ratio", "0.25"}});
  // 512 x 128 x 9 of 512 x 512 x 9, and 128 x 512 of it.
  CHECK(duration_of(thin, "implicit_convolve_sgemm") == 4200 + 90000);
  CHECK(duration_of(thin, "second factor") == 4200 + 10000);
}

TEST_CASE("low_rank: full rank would be slower and changes nothing; unknown shapes are declined") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  run.kernel(forward);
  const auto same = after(run.build(), low_rank, {{"ratio", "1"}}, &a100);
  CHECK(duration_of(same, "ampere_sgemm_256x128_tn") == 1000000);
  ToyRun unknown;
  unknown.kernel({.name = "ampere_sgemm_256x128_tn", .duration_ns = 10});
  const auto declined = apply_to(unknown.build(), low_rank, {{"ratio", "0.25"}}, &a100);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}

TEST_CASE("low_rank: the update and the collectives of gradients shrink as the parameters do") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  const auto compute = run.stream();
  const auto network = run.add_stream(20);
  run.kernel(forward);
  // Half of the parameters are of an embedding, which stays.
  run.kernel({.name = "embedding_kernel",
              .duration_ns = 10000,
              .operator_name = "aten::embedding",
              .shapes = "[[8192, 8192], [64]]"});
  ToyKernel gradient = forward;
  gradient.name = "weight gradient sgemm";
  gradient.operator_name = "aten::mm";
  gradient.shapes = "[[8192, 8192], [8192, 8192]]";
  gradient.phase = Phase::backward;
  const auto made = run.kernel(gradient);
  run.use_stream(network);
  const auto reduced = run.kernel({.name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                                   .duration_ns = 8'020'000,
                                   .phase = Phase::communication,
                                   .kind = foretrace::TaskKind::collective,
                                   .collective = foretrace::CollectiveKind::all_reduce,
                                   .communicator = 0,
                                   .bytes = 2LL * 8192 * 8192 * 4});
  run.wait_for(reduced, made);
  run.use_stream(compute);
  const auto update = run.kernel(
      {.name = "multi_tensor_apply_kernel", .duration_ns = 1'801'800, .phase = Phase::update});
  run.wait_for(update, reduced);
  run.synchronize();
  const auto graph = run.build();
  const auto thin = after(graph, low_rank, {{"ratio", "0.25"}}, &a100);
  // Of 2 x 8192^2 numbers one half becomes a half of it: three quarters are left. 20 us of the
  // transfer and 1.8 us of the kernel do not follow.
  CHECK(duration_of(thin, "ncclDevKernel_AllReduce_Sum_f32_RING_LL") ==
        doctest::Approx(20'000 + 6'000'000).epsilon(1e-4));  // a bias stays whole
  CHECK(duration_of(thin, "multi_tensor_apply_kernel") ==
        doctest::Approx(1'800 + 1'350'000).epsilon(1e-4));
  // They still wait for each other.
  CHECK(foretrace::test::span_ns(thin) > 6'020'000 + 1'351'800);
}
