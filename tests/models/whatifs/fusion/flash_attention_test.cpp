#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& flash_attention;
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
using foretrace::what_ifs::flash_attention;

namespace {

// 32 heads of 1024 x 1024 scores of width 64 in fp16.
constexpr ToyKernel scores = {.name = "ampere_fp16_s16816gemm_fp16_128x64_tn",
                              .duration_ns = 90000,
                              .operator_name = "aten::bmm",
                              .shapes = "[[32, 1024, 64], [32, 64, 1024]]",
                              .launch_ns = 2000};
constexpr ToyKernel softmax = {
    .name = "softmax_warp_forward<c10::Half>", .duration_ns = 200000, .launch_ns = 2000};
constexpr ToyKernel dropout = {
    .name = "fused_dropout_kernel<c10::Half>", .duration_ns = 150000, .launch_ns = 2000};
constexpr ToyKernel values = {.name = "ampere_fp16_s16816gemm_fp16_64x64_nn",
                              .duration_ns = 80000,
                              .operator_name = "aten::bmm",
                              .shapes = "[[32, 1024, 1024], [32, 1024, 64]]",
                              .launch_ns = 2000};

foretrace::TaskGraph attention() {
  ToyRun run;
  for (const auto& kernel : {scores, softmax, dropout, values}) run.kernel(kernel);
  return run.build();
}

}  // namespace

TEST_CASE("flash_attention: one kernel, whose time is the arithmetic of both products") {
  const auto a100 = toy_accelerator();
  const auto fused = after(attention(), flash_attention, {}, &a100);
  CHECK(count_of(fused, "launch of flash attention") == 1);
  CHECK(fused.size() == 2);
  // 4 x 32 x 1024 x 1024 x 64 FLOPs at 0.60 of the sustained fp16 rate at its typical clock, and
  // 4.2 us of ramp-up; the 16.8 MB of queries, keys, values and result take less.
  const double rate = 0.60 * a100.sustained_clock.typical *
                      a100.sustained_flops[static_cast<std::size_t>(foretrace::Precision::fp16)];
  const double ns = 4200 + 4.0 * 32 * 1024 * 1024 * 64 / rate * 1e9;
  CHECK(duration_of(fused, "flash attention") == doctest::Approx(ns).epsilon(1e-4));
  const auto faster = after(attention(), flash_attention, {{"efficiency", "2"}}, &a100);
  CHECK(duration_of(faster, "flash attention") ==
        doctest::Approx(4200 + (ns - 4200) / 2).epsilon(1e-3));
}

TEST_CASE(
    "flash_attention: copies of scores on the device are part of it, those to the host are not") {
  const auto a100 = toy_accelerator();
  for (const auto& [copy, fuses] : {std::pair{"Memcpy DtoD (Device -> Device)", true},
                                    std::pair{"Memcpy DtoH (Device -> Pinned)", false}}) {
    const char* const name = copy;
    CAPTURE(name);
    ToyRun run;
    const auto side = run.add_stream(20);
    const auto before = run.bystander(side, run.kernel(dropout), 7000);
    run.wait_for(run.kernel(scores), before);
    run.kernel(
        {.name = name, .duration_ns = 60000, .launch_ns = 2000, .kind = foretrace::TaskKind::copy});
    run.kernel(softmax);
    run.bystander(side, run.kernel(values), 5000);
    const auto graph = run.build();
    const auto change = apply_to(graph, flash_attention, {}, &a100);
    CHECK(change.ok() == fuses);
    if (fuses) {
      const auto fused = after(graph, flash_attention, {}, &a100);
      CHECK(count_of(fused, "flash attention") == 1);
      CHECK(count_of(fused, name) == 0);
    }
  }
}

TEST_CASE("flash_attention: without an accelerator the products' time stays") {
  CHECK(duration_of(after(attention(), flash_attention), "flash attention") == 170000);
}

TEST_CASE("flash_attention: backward has two products on each side, and 2.5 times the work") {
  ToyRun run;
  for (const auto& kernel : {values, scores, dropout, softmax, values, values}) {
    ToyKernel twin = kernel;
    twin.phase = Phase::backward;
    run.kernel(twin);
  }
  const auto a100 = toy_accelerator();
  const auto graph = run.build();
  const auto fused = after(graph, flash_attention, {}, &a100);
  CHECK(fused.size() == 2);
  const auto forward = static_cast<double>(
      duration_of(after(attention(), flash_attention, {}, &a100), "flash attention"));
  CHECK(duration_of(fused, "flash attention backward") ==
        doctest::Approx(4200 + 2.5 * (forward - 4200)).epsilon(1e-3));
  CHECK_FALSE(apply_to(graph, flash_attention, {{"backward", "false"}}, &a100).ok());
}

TEST_CASE("flash_attention: the softmax of a loss is no attention") {
  ToyRun run;
  run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 10, .operator_name = "aten::addmm"});
  run.kernel({.name = "softmax_warp_forward<float>", .duration_ns = 10});
  run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 10, .operator_name = "aten::addmm"});
  const auto declined = apply_to(run.build(), flash_attention);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}

TEST_CASE("flash_attention: scores and probabilities are no longer allocated") {
  ToyRun run;
  for (const auto& kernel : {scores, softmax, values}) {
    const auto id = run.kernel(kernel);
    foretrace::Tensor result;
    result.bytes = 1 << 20;
    result.allocated_in = foretrace::make_id<foretrace::TaskId>(foretrace::index(id) - 1);
    run.builder().add_tensor(result);
  }
  const auto change = apply_to(run.build(), flash_attention);
  REQUIRE(change.ok());
  REQUIRE(change->tensors.size() == 2);
  CHECK(change->tensors[0].bytes == 0);
  CHECK(change->tensors[1].bytes == 0);
  CHECK(index(change->tensors[1].tensor) == 1);
}

namespace {

constexpr ToyKernel cast_up = {
    .name = "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda>",
    .duration_ns = 110000,
    .operator_name = "aten::copy_",
    .shapes = "[[1, 32, 1024, 1024], [1, 32, 1024, 1024], []]",
    .launch_ns = 2000,
    .types = R"(["float", "c10::BFloat16", "Scalar"])"};
constexpr ToyKernel cast_down = {
    .name = "void at::native::vectorized_elementwise_kernel<8, bfloat16_copy_kernel_cuda>",
    .duration_ns = 70000,
    .operator_name = "aten::copy_",
    .shapes = "[[1, 32, 1024, 1024], [1, 32, 1024, 1024], []]",
    .launch_ns = 2000,
    .types = R"(["c10::BFloat16", "float", "Scalar"])"};

/// Semaphores of a product whose blocks add up parts.
constexpr ToyKernel set_of(const ToyKernel& product) {
  ToyKernel set = product;
  set.name = "Memset (Device)";
  set.duration_ns = 800;
  set.kind = foretrace::TaskKind::set;
  set.bytes = 4;
  return set;
}

}  // namespace

TEST_CASE("flash_attention: under autocast casts and sets of semaphores go with what they are in") {
  const auto a100 = toy_accelerator();
  for (const bool backward : {false, true}) {
    CAPTURE(backward);
    ToyRun run;
    const auto side = run.add_stream(20);
    const auto put = [&](ToyKernel kernel) {
      kernel.phase = backward ? Phase::backward : Phase::forward;
      return run.kernel(kernel);
    };
    const auto before = run.bystander(side, put(dropout), 7000);
    run.wait_for(put(set_of(values)), before);
    if (backward) {
      for (const auto& kernel : {values, set_of(scores), scores, cast_up, dropout, softmax}) {
        put(kernel);
      }
      for (const auto& kernel : {cast_down, set_of(values), values, set_of(scores)}) put(kernel);
      run.bystander(side, put(scores), 5000);
    } else {
      // The set before belongs to another product, and stays.
      put(set_of(scores));
      for (const auto& kernel : {scores, dropout, cast_up, softmax, dropout, cast_down}) {
        put(kernel);
      }
      put(set_of(values));
      run.bystander(side, put(values), 5000);
    }
    const auto graph = run.build();
    const auto fused = after(graph, flash_attention, {}, &a100);
    const std::string_view name = backward ? "flash attention backward" : "flash attention";
    CHECK(count_of(fused, name) == 1);
    for (std::size_t i = 0; i < fused.size(); ++i) {
      const auto task = foretrace::make_id<foretrace::TaskId>(i);
      if (fused.name(task) == name) CHECK(fused.kind(task) == foretrace::TaskKind::kernel);
    }
    CHECK(count_of(fused, cast_up.name) == 0);
    CHECK(count_of(fused, cast_down.name) == 0);
    CHECK(count_of(fused, "Memset (Device)") == (backward ? 0 : 1));
    CHECK(count_of(fused, "bystander") == 2);
  }
}

TEST_CASE("flash_attention: casts do not make kernels with much between them an attention") {
  for (const std::size_t masks : {std::size_t{6}, std::size_t{9}}) {
    CAPTURE(masks);
    ToyRun run;
    const auto side = run.add_stream(20);
    run.bystander(side, run.kernel(scores), 7000);
    for (std::size_t i = 0; i < masks; ++i) run.kernel(dropout);
    for (int i = 0; i < 3; ++i) run.kernel(cast_up);
    run.kernel(softmax);
    run.kernel(cast_down);
    run.bystander(side, run.kernel(values), 7000);
    CHECK(apply_to(run.build(), flash_attention).ok() == (masks < 9));
  }
}
