#include "tests/models/toy_run.h"

namespace foretrace::optimizations {
extern const OptimizationInfo low_rank;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::optimizations::low_rank;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyKernel;
using foretrace::test::ToyRun;

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
