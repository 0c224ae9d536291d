#include <array>
#include <string>
#include <vector>

#include "models/editing/parameters/model_state.h"
#include "models/hardware/costs/highest_rate.h"
#include "models/hardware/costs/kernel_cost.h"
#include "tests/models/toy_run.h"
#include "tests/sim/graph/random_change.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& low_rank;
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

TEST_CASE(
    "low_rank: full rank saves no arithmetic and changes nothing; unknown shapes are declined") {
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

TEST_CASE("low_rank: what is put in takes its arithmetic, however fast the recorded kernel was") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  const auto side = run.add_stream(9);
  ToyKernel fast = forward;  // less than its shapes ask of any unit
  fast.duration_ns = 2000;
  run.bystander(side, run.kernel(fast), 100);
  ToyKernel convolution{.name = "implicit_convolve_sgemm",
                        .duration_ns = 5000,
                        .operator_name = "aten::cudnn_convolution",
                        .shapes = "[[512, 512, 56, 56], [512, 512, 3, 3]]"};
  run.kernel(convolution);
  run.synchronize();
  const auto thin = after(run.build(), low_rank, {{"ratio", "0.25"}}, &a100);
  const auto described = foretrace::describe_works(thin, &a100);
  std::size_t seen = 0;
  for (std::size_t i = 0; i < thin.size(); ++i) {
    const auto task = foretrace::make_id<foretrace::TaskId>(i);
    if (thin.name(task) != "second factor" || !is_device(thin.kind(task))) continue;
    const double flops = described[index(thin.work_id(task))].amount.flops;
    ++seen;
    CHECK(flops > 1e9);
    CHECK(static_cast<double>(thin.duration_ns(task)) >=
          flops / foretrace::highest_rate(a100) * 1e9);
  }
  CHECK(seen == 2);
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

TEST_CASE("low_rank: a weight and its second factor count once, however many kernels a call is") {
  using foretrace::TaskId;
  using foretrace::TensorCategory;
  const auto a100 = toy_accelerator();
  const std::vector<std::string> by_transforms = {
      "fft2d_r2c_32x32<float>", "flip_filter<float>", "fft2d_r2c_32x32<float>",
      "sm80_xmma_gemm_cf32cf32_cf32f32_cf32_tn_n", "implicit_convolve_sgemm<float>"};
  const std::vector<std::string> direct = {"implicit_convolve_sgemm<float>"};
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    foretrace::test::Choices choices(seed);
    ToyRun run;
    const std::array streams = {run.stream(), run.add_stream(8)};
    TaskId last = foretrace::none<TaskId>;
    double whole = 0;
    double thin = 0;
    const std::uint32_t layers = 2 + choices.below(5);
    const auto call = [&](std::uint32_t layer, foretrace::Phase phase) {
      const std::string c = std::to_string(64 * (1 + layer));
      const std::string map = "[8, " + c + ", 14, 14]";
      const std::string weight = "[256, " + c + ", 3, 3]";
      const bool forward_pass = phase == Phase::forward;
      for (const std::string& name : choices.one_in(2) ? by_transforms : direct) {
        run.use_stream(streams[choices.below(2)]);
        const TaskId kernel =
            run.kernel({.name = name,
                        .duration_ns = 50'000 + choices.below(50'000),
                        .operator_name =
                            forward_pass ? "aten::cudnn_convolution" : "aten::convolution_backward",
                        .shapes = forward_pass ? "[" + map + ", " + weight + "]"
                                               : "[" + map + ", " + map + ", " + weight + "]",
                        .phase = phase});
        if (last != foretrace::none<TaskId> && choices.one_in(3)) run.wait_for(kernel, last);
        last = kernel;
      }
    };
    for (std::uint32_t i = 0; i < layers; ++i) {
      call(i, Phase::forward);
      const double channels = 64.0 * (1 + i);
      whole += 256 * channels * 9;
      thin += 64 * channels * 9 + 256.0 * 64;
    }
    for (std::uint32_t i = layers; i-- > 0;) call(i, Phase::backward);
    for (std::uint32_t i = 0; i < layers; ++i) {
      const std::string shape = "[[256, " + std::to_string(64 * (1 + i)) + ", 3, 3], []]";
      for (const char* op : {"aten::mul_", "aten::addcdiv_"}) {
        run.kernel(
            {.duration_ns = 90'000, .operator_name = op, .shapes = shape, .phase = Phase::update});
      }
    }
    constexpr std::int64_t mib = 1 << 20;
    for (const auto is : {TensorCategory::gradient, TensorCategory::optimizer_state}) {
      run.builder().add_tensor({.bytes = 64 * mib, .category = is});
    }
    const auto graph = run.build();
    const auto factored = after(graph, low_rank, {{"ratio", "0.25"}}, &a100);
    CHECK(count_of(factored, "second factor") == 2 * layers);
    const foretrace::editing::KernelEditor editor({factored, &a100, *foretrace::test::shipped()});
    CHECK(foretrace::editing::parameter_count(editor).numbers == doctest::Approx(thin));
    for (const foretrace::Tensor& tensor : factored.context().tensors) {
      CHECK(static_cast<double>(tensor.bytes) ==
            doctest::Approx(64 * mib * thin / whole).epsilon(1e-4));
    }
  }
}
