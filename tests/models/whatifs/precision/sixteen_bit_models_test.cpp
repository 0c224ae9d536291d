// Mixed precision of models that have 16-bit kernels already, or have them by it.
#include <string>
#include <string_view>

#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& mixed_precision;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::mixed_precision;

namespace {

constexpr const char* large_gemm = "[[8192, 8192], [8192, 8192]]";
constexpr std::string_view float_multiply =
    "vectorized_elementwise_kernel<4, BinaryFunctor<float, float, float, MulFunctor<float>>>";
constexpr std::string_view half_product = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128";
constexpr const char* hidden = "[[8, 512, 1024], [8, 512, 1]]";

/// The norm of a model in bf16: what a product writes is cast to fp32, and computed with.
void norm_in_fp32(ToyRun& run) {
  run.kernel({.name = half_product,
              .duration_ns = 200000,
              .operator_name = "aten::mm",
              .shapes = "[[4096, 1024], [1024, 1024]]"});
  run.kernel({.name = "unrolled_elementwise_kernel<direct_copy_kernel_cuda lambda(float)>",
              .duration_ns = 30000,
              .operator_name = "aten::copy_",
              .shapes = "[[8, 512, 1024], [8, 512, 1024], []]",
              .types = R"(["float", "c10::BFloat16", "Scalar"])"});
  run.kernel({.name = float_multiply,
              .duration_ns = 40000,
              .operator_name = "aten::mul",
              .shapes = hidden,
              .types = R"(["float", "float"])"});
}

}  // namespace

TEST_CASE("mixed_precision: fp32 that a 16-bit model casts to explicitly stays, on every stream") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  norm_in_fp32(run);
  const auto main = run.stream();
  run.use_stream(run.add_stream(9));
  norm_in_fp32(run);
  run.use_stream(main);
  // Positions that are cast from integers, multiplied with frequencies.
  run.kernel({.name = "vectorized_elementwise_kernel<4, direct_copy_kernel_cuda lambda(float)>",
              .duration_ns = 2000,
              .operator_name = "aten::copy_",
              .shapes = "[[1, 1, 512], [1, 1, 512], []]",
              .types = R"(["float", "long int", "Scalar"])"});
  run.kernel({.name = "cutlass_80_simt_sgemm_128x32_8x5_nn_align1",
              .duration_ns = 4000,
              .operator_name = "aten::bmm",
              .shapes = "[[1, 32, 1], [1, 1, 512]]",
              .types = R"(["float", "float"])"});
  const auto graph = run.build();
  const auto refused = apply_to(graph, mixed_precision, {}, &a100);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::no_match);
  CHECK(refused.error().message.find("cast to fp32 by the program") != std::string::npos);
  // A cast of the whole model is another question.
  CHECK(duration_of(after(graph, mixed_precision, {{"mode", "full"}}, &a100), float_multiply) <
        40000);
}

TEST_CASE("mixed_precision: what follows an fp32 product of a 16-bit model follows it") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  norm_in_fp32(run);
  run.kernel({.name = "ampere_sgemm_128x64_tn",
              .duration_ns = 150000,
              .operator_name = "aten::mm",
              .shapes = "[[4096, 512], [512, 2048]]",
              .types = R"(["float", "float"])"});
  run.kernel({.name = "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>",
              .duration_ns = 101800,
              .operator_name = "aten::add",
              .shapes = "[[8, 512, 2048], [2048]]",
              .types = R"(["float", "float"])"});
  const auto changed =
      after(run.build(), mixed_precision, {{"casts", "none"}, {"followers", "1"}}, &a100);
  CHECK(duration_of(changed, float_multiply) == 40000);
  CHECK(duration_of(changed, "ampere_sgemm_128x64_tn") < 150000);
  CHECK(duration_of(changed, "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>") < 60000);
}

TEST_CASE("mixed_precision: what comes after it sees 16-bit kernels") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  run.kernel({.name = "ampere_sgemm_128x64_tn",
              .duration_ns = 70000000,
              .operator_name = "aten::mm",
              .shapes = large_gemm,
              .types = R"(["float", "float"])"});
  const auto graph = run.build();
  for (const char* dtype : {"fp16", "bf16"}) {
    CAPTURE(dtype);
    const auto half = after(graph, mixed_precision, {{"casts", "none"}, {"dtype", dtype}}, &a100);
    const foretrace::Work& work = half.work(foretrace::make_id<foretrace::TaskId>(1));
    CHECK(foretrace::to_string(work.precision) == dtype);
    CHECK(half.names()[work.types] == (std::string(dtype) == "fp16"
                                           ? R"(["c10::Half", "c10::Half"])"
                                           : R"(["c10::BFloat16", "c10::BFloat16"])"));
    CHECK(half.names()[work.shapes] == large_gemm);
    // The other one finds nothing that is left to lower.
    const auto again = apply_to(half, mixed_precision, {{"casts", "none"}}, &a100);
    REQUIRE_FALSE(again.ok());
    CHECK(again.error().message.find("already 16 bit 100.0 %") != std::string::npos);
  }
}
