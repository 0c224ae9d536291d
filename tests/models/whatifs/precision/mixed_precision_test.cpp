#include <cmath>

#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& mixed_precision;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::mixed_precision;

namespace {

constexpr const char* large_gemm = "[[8192, 8192], [8192, 8192]]";

}  // namespace

TEST_CASE(
    "mixed_precision: a device-only run of products is exactly 3x with Daydream's constants") {
  ToyRun run;
  for (int i = 0; i < 10; ++i)
    run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 300000});
  const auto graph = run.build();
  REQUIRE(span_ns(graph) == 3000000);
  CHECK(span_ns(after(graph, mixed_precision, {{"model", "daydream"}})) == 1000000);
}

TEST_CASE("mixed_precision: large products follow the ratio of sustained rates") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  run.kernel({.name = "ampere_sgemm_128x64_tn",
              .duration_ns = 70000000,
              .operator_name = "aten::mm",
              .shapes = large_gemm});
  const auto graph = run.build();
  // 16.3 -> 261 TFLOP/s on the A100; waves and ramp-up move it by less than 3 %.
  const auto predicted = span_ns(after(graph, mixed_precision, {{"casts", "none"}}, &a100));
  CHECK(static_cast<double>(predicted) == doctest::Approx(70e6 * 16.3 / 261).epsilon(0.03));
}

TEST_CASE("mixed_precision: a host-bound run gains nothing") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  for (int i = 0; i < 100; ++i) {
    run.kernel({.name = "ampere_sgemm_128x64_tn",
                .duration_ns = 10000,
                .operator_name = "aten::mm",
                .shapes = "[[512, 512], [512, 512]]",
                .launch_ns = 8000,
                .segment_ns = 92000});
  }
  const auto graph = run.build();
  const auto before = static_cast<double>(span_ns(graph));
  CHECK(before / static_cast<double>(
                     span_ns(after(graph, mixed_precision, {{"casts", "none"}}, &a100))) <
        1.001);
  // Under autocast every weight cast costs 10 us and a launch: 100 x 18 us of 10 ms.
  CHECK(before / static_cast<double>(span_ns(after(graph, mixed_precision, {}, &a100))) ==
        doctest::Approx(10.0 / 11.8).epsilon(0.01));
}

TEST_CASE("mixed_precision: autocast keeps its fp32 list, a full cast does not") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  run.kernel({.name = "softmax_warp_forward<float, float, float>", .duration_ns = 101800});
  run.kernel(
      {.name = "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>", .duration_ns = 101800});
  const auto graph = run.build();
  const auto autocast = after(graph, mixed_precision, {{"followers", "1"}}, &a100);
  CHECK(duration_of(autocast, "softmax_warp_forward<float, float, float>") == 101800);
  // 1.8 us of ramp-up stay, 100 us of bytes halve.
  CHECK(duration_of(autocast, "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>") == 51800);
  const auto full = after(graph, mixed_precision, {{"mode", "full"}}, &a100);
  CHECK(duration_of(full, "softmax_warp_forward<float, float, float>") == 51800);
}

TEST_CASE("mixed_precision: only a share of followers has 16-bit inputs under autocast") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  run.kernel({.name = "add_elementwise_kernel<float>", .duration_ns = 101800});
  const auto graph = run.build();
  CHECK(span_ns(after(graph, mixed_precision, {{"followers", "0.5"}}, &a100)) == 76800);
}

TEST_CASE("mixed_precision: the update and collectives keep their times") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 300000});
  run.kernel(
      {.name = "update_elementwise_kernel<float>", .duration_ns = 50000, .phase = Phase::update});
  run.kernel({.name = "ncclKernel_AllReduce",
              .duration_ns = 70000,
              .kind = foretrace::TaskKind::collective});
  const auto changed = after(run.build(), mixed_precision, {}, &a100);
  CHECK(duration_of(changed, "update_elementwise_kernel<float>") == 50000);
  CHECK(duration_of(changed, "ncclKernel_AllReduce") == 70000);
}

TEST_CASE("mixed_precision: sizes that are no multiple of 8 get half the rate") {
  const auto a100 = toy_accelerator();
  const auto predicted = [&](const char* shapes) {
    ToyRun run;
    run.kernel({.name = "ampere_sgemm_128x64_tn",
                .duration_ns = 70000000,
                .operator_name = "aten::mm",
                .shapes = shapes});
    return static_cast<double>(
        span_ns(after(run.build(), mixed_precision, {{"casts", "none"}}, &a100)));
  };
  CHECK(predicted("[[8192, 8192], [8192, 8191]]") / predicted("[[8192, 8192], [8192, 8192]]") ==
        doctest::Approx(2).epsilon(0.02));
}

TEST_CASE("mixed_precision: unknown shapes give a point between two bounds, and say so") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  run.kernel({.name = "cutlass_80_simt_sgemm", .duration_ns = 1000000});
  const auto graph = run.build();
  const auto change = apply_to(graph, mixed_precision, {}, &a100);
  REQUIRE(change.ok());
  REQUIRE(change->durations.size() == 1);
  CHECK(change->durations[0].low < 0.5F);
  CHECK(change->durations[0].high > 2.0F);
  CHECK(change->notes[1].find("unknown for 100 % of the time in products") != std::string::npos);
}

TEST_CASE("mixed_precision: a kernel whose name tells no type stays, or halves in the range") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 300000});
  run.kernel({.name = "fusion_734", .duration_ns = 100000});
  const auto graph = run.build();
  const auto change = apply_to(graph, mixed_precision, {}, &a100);
  REQUIRE(change.ok());
  REQUIRE(change->durations.size() == 2);
  CHECK(change->durations[1].duration_ns == 100000);
  CHECK(change->durations[1].low == 0.5F);
  CHECK(change->durations[1].high == 1.0F);
  // TF32 is about products only.
  const auto tf32 = apply_to(graph, mixed_precision, {{"dtype", "tf32"}}, &a100);
  REQUIRE(tf32.ok());
  CHECK(tf32->durations.size() == 1);
}

TEST_CASE("mixed_precision: autocast casts each weight once per forward product") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    run.kernel({.name = "ampere_sgemm_128x64_tn",
                .duration_ns = 300000,
                .operator_name = "aten::addmm",
                .shapes = "[[64], [32, 16], [16, 64]]",
                .phase = phase});
  }
  const auto graph = run.build();
  CHECK(count_of(after(graph, mixed_precision, {}, &a100), "weight cast to 16 bit") == 1);
  CHECK(count_of(after(graph, mixed_precision, {{"mode", "full"}}, &a100),
                 "weight cast to 16 bit") == 0);
}

TEST_CASE("mixed_precision: declines where every kernel is 16 bit") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  run.kernel({.name = "ampere_bf16_s16816gemm_bf16_128x128_nn", .duration_ns = 1000});
  run.kernel({.name = "elementwise_kernel<c10::BFloat16>", .duration_ns = 3000});
  const auto declined = apply_to(run.build(), mixed_precision, {}, &a100);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
  CHECK(declined.error().message ==
        "no fp32 kernel to change; device time: changed 0.0 %, already 16 bit 100.0 %");
}

TEST_CASE("mixed_precision: needs to know the accelerator, and its units") {
  ToyRun run;
  run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 1000});
  const auto graph = run.build();
  const auto unknown = apply_to(graph, mixed_precision);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == ErrorCode::unsupported);
  CHECK(unknown.error().message.find("accelerator=NAME") != std::string::npos);
  toy_accelerator();
  const auto no_bf16 = apply_to(graph, mixed_precision, {{"accelerator", "t4"}, {"dtype", "bf16"}});
  REQUIRE_FALSE(no_bf16.ok());
  CHECK(no_bf16.error().message == "t4 has no bf16 units, expected dtype=fp16");
  CHECK(apply_to(graph, mixed_precision, {{"accelerator", "t4"}}).ok());
}

TEST_CASE("mixed_precision: dtype=tf32 changes fp32 products only") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  for (const char* name : {"ampere_sgemm_128x64_tn", "ampere_tf32_s1688gemm_128x128_tn"}) {
    run.kernel(
        {.name = name, .duration_ns = 70000000, .operator_name = "aten::mm", .shapes = large_gemm});
  }
  run.kernel(
      {.name = "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>", .duration_ns = 101800});
  const auto changed = after(run.build(), mixed_precision, {{"dtype", "tf32"}}, &a100);
  // 16.3 -> 119 x 1.09 TFLOP/s.
  CHECK(static_cast<double>(duration_of(changed, "ampere_sgemm_128x64_tn")) ==
        doctest::Approx(70e6 * 16.3 / (119 * 1.09)).epsilon(0.03));
  CHECK(duration_of(changed, "ampere_tf32_s1688gemm_128x128_tn") == 70000000);
  CHECK(duration_of(changed, "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>") == 101800);
  CHECK(changed.size() == 6);  // no casts
}

TEST_CASE("mixed_precision: dtype=tf32 declines where no product is fp32, or no unit TF32") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  run.kernel({.name = "ampere_tf32_s1688gemm_128x128_tn", .duration_ns = 1000});
  run.kernel({.name = "elementwise_kernel<float>", .duration_ns = 3000});
  const auto graph = run.build();
  const auto declined = apply_to(graph, mixed_precision, {{"dtype", "tf32"}}, &a100);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().message ==
        "no fp32 product to change; device time: changed 0.0 %, already TF32 or 16 bit 25.0 %, no "
        "products 75.0 %");
  const auto v100 = toy_accelerator("v100_sxm2_32gb");
  const auto no_unit = apply_to(graph, mixed_precision, {{"dtype", "tf32"}}, &v100);
  REQUIRE_FALSE(no_unit.ok());
  CHECK(no_unit.error().message == "v100_sxm2_32gb has no tf32 units, expected dtype=fp16");
}

namespace {

// Forward [4096 x 4096] x [4096 x 8192]; backward the gradients of input and weight.
void linear_layer(ToyRun& run, bool backward) {
  const char* name = "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT";
  const auto product = [&](const char* shapes, Phase phase) {
    run.kernel({.name = name,
                .duration_ns = 400000,
                .operator_name = "aten::mm",
                .shapes = shapes,
                .phase = phase});
  };
  product("[[4096, 4096], [4096, 8192]]", Phase::forward);
  if (!backward) return;
  product("[[4096, 8192], [8192, 4096]]", Phase::backward);
  product("[[8192, 4096], [4096, 4096]]", Phase::backward);
}

}  // namespace

TEST_CASE("mixed_precision: dtype=fp8 casts activation, weight and, once, the gradient") {
  const auto h100 = toy_accelerator("h100_sxm");
  ToyRun run;
  linear_layer(run, true);
  const auto graph = run.build();
  const auto changed =
      after(graph, mixed_precision, {{"dtype", "fp8"}, {"fp8_copies", "2"}}, &h100);
  // 2 bytes read and two copies of one written, at 0.8 x 3.35 TB/s after 1.8 us.
  CHECK(duration_of(changed, "activation cast to fp8") == 1800 + 25041);  // 2^24 numbers
  CHECK(duration_of(changed, "weight cast to fp8") == 1800 + 50081);      // 2^25
  CHECK(duration_of(changed, "gradient cast to fp8") == 1800 + 50081);    // 2^25
  CHECK(count_of(changed, "gradient cast to fp8") == 1);
  CHECK(changed.size() == graph.size() + 6);
  // 763 -> 1347 TFLOP/s.
  CHECK(static_cast<double>(duration_of(changed, "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT")) ==
        doctest::Approx(400000 * 763.0 / 1347).epsilon(0.05));
}

TEST_CASE("mixed_precision: fp8 inference writes one copy; weights kept in fp8 are not cast") {
  const auto h100 = toy_accelerator("h100_sxm");
  ToyRun run;
  linear_layer(run, false);
  const auto graph = run.build();
  const auto changed = after(graph, mixed_precision, {{"dtype", "fp8"}, {"casts", "none"}}, &h100);
  CHECK(duration_of(changed, "activation cast to fp8") == 1800 + 18780);  // 3 bytes x 2^24
  CHECK(count_of(changed, "weight cast to fp8") == 0);
}

TEST_CASE("mixed_precision: what fp8 units do not take becomes bf16, or stays if it is") {
  const auto h100 = toy_accelerator("h100_sxm");
  const auto apply = [&](const char* name, const char* shapes) {
    ToyRun run;
    run.kernel(
        {.name = name, .duration_ns = 300000, .operator_name = "aten::mm", .shapes = shapes});
    return apply_to(run.build(), mixed_precision, {{"dtype", "fp8"}, {"casts", "none"}}, &h100);
  };
  const auto odd = apply("ampere_sgemm_128x64_tn", "[[1024, 1024], [1024, 1000]]");
  REQUIRE(odd.ok());
  CHECK(odd->inserted.empty());
  CHECK(odd->durations.size() == 1);
  // Any number of rows will do.
  const auto even = apply("ampere_sgemm_128x64_tn", "[[1000, 1024], [1024, 1024]]");
  REQUIRE(even.ok());
  CHECK(even->inserted.size() == 2);
  const auto half = apply("ampere_bf16_s16816gemm_bf16_128x128_nn", "[[1024, 1024], [1024, 1000]]");
  REQUIRE_FALSE(half.ok());
  CHECK(half.error().code == ErrorCode::no_match);
}

TEST_CASE("mixed_precision: fp8 needs its units, and Daydream has no constants for it") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  linear_layer(run, false);
  const auto graph = run.build();
  const auto no_unit = apply_to(graph, mixed_precision, {{"dtype", "fp8"}}, &a100);
  REQUIRE_FALSE(no_unit.ok());
  CHECK(no_unit.error().message == "a100_sxm_40gb has no fp8 units, expected dtype=bf16 or fp16");
  const auto daydream =
      apply_to(graph, mixed_precision, {{"dtype", "fp8"}, {"model", "daydream"}}, &a100);
  REQUIRE_FALSE(daydream.ok());
  CHECK(daydream.error().message.find("got dtype=fp8") != std::string::npos);
}

namespace {

ToyRun training_step() {
  ToyRun run;
  run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 5000000});
  run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 5000000, .phase = Phase::backward});
  run.kernel(
      {.name = "update_elementwise_kernel<float>", .duration_ns = 50000, .phase = Phase::update});
  return run;
}

}  // namespace

TEST_CASE("mixed_precision: loss scaling reads and writes gradients once, and the host waits") {
  const auto a100 = toy_accelerator();
  const auto graph = training_step().build();
  const auto span = [&](const char* scaling, const char* mode) {
    return span_ns(after(graph, mixed_precision,
                         {{"dtype", "fp16"},
                          {"mode", mode},
                          {"loss_scaling", scaling},
                          {"parameters", "1e6"},
                          {"readback_host", "30 us"}},
                         &a100));
  };
  // 8 MB at 0.8 x 1.555 TB/s after 1.8 us, the gap before a kernel, then the host launches the
  // update 30 us later.
  CHECK(span("dynamic", "autocast") ==
        span("none", "autocast") + a100.kernel_gap_ns + 1800 + 6431 + 30000);
  CHECK(span("dynamic", "full") == span("none", "full") + a100.kernel_gap_ns + 1800 + 3215 + 30000);
  CHECK(span("auto", "autocast") == span("dynamic", "autocast"));
}

TEST_CASE("mixed_precision: loss scaling is for fp16 in training, and needs the gradients' size") {
  const auto a100 = toy_accelerator();
  const auto graph = training_step().build();
  const auto notes_of = [&](const foretrace::test::Given& given) {
    const auto change = apply_to(graph, mixed_precision, given, &a100);
    REQUIRE(change.ok());
    return change->notes.back();
  };
  CHECK(notes_of({{"dtype", "bf16"}, {"parameters", "1e6"}}).find("loss scaling") ==
        std::string::npos);
  CHECK(notes_of({{"dtype", "fp16"}}) ==
        "loss scaling is left out: unknown number of gradients (parameters=COUNT)");
  const auto unknown =
      apply_to(graph, mixed_precision, {{"dtype", "fp16"}, {"loss_scaling", "dynamic"}}, &a100);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == ErrorCode::missing_cost);
  ToyRun inference;
  inference.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 5000000});
  const auto change = apply_to(inference.build(), mixed_precision,
                               {{"dtype", "fp16"}, {"parameters", "1e6"}}, &a100);
  REQUIRE(change.ok());
  CHECK(change->inserted.empty());
}

TEST_CASE("mixed_precision: collectives of fp32 gradients halve where the whole model is cast") {
  const auto a100 = toy_accelerator();
  const auto step = [](std::string_view collective) {
    ToyRun run;
    const auto compute = run.stream();
    const auto network = run.add_stream(20);
    run.kernel({.name = "ampere_sgemm_128x64_tn",
                .duration_ns = 1'000'000,
                .operator_name = "aten::mm",
                .shapes = "[[4096, 4096], [4096, 4096]]"});
    const auto made = run.kernel({.name = "ampere_sgemm_128x64_nt",
                                  .duration_ns = 1'000'000,
                                  .operator_name = "aten::mm",
                                  .shapes = "[[4096, 4096], [4096, 4096]]",
                                  .phase = Phase::backward});
    run.use_stream(network);
    const auto reduced = run.kernel({.name = collective,
                                     .duration_ns = 4'020'000,
                                     .phase = Phase::communication,
                                     .kind = foretrace::TaskKind::collective,
                                     .collective = foretrace::CollectiveKind::all_reduce,
                                     .communicator = 0,
                                     .bytes = 4096LL * 4096 * 4});
    run.wait_for(reduced, made);
    run.use_stream(compute);
    run.bystander(compute, reduced, 1000);
    run.synchronize();
    return run.build();
  };
  constexpr const char* fp32 = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
  constexpr const char* bf16 = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";
  const auto cast = [&](const char* name, const char* mode) {
    return duration_of(
        after(step(name), mixed_precision, {{"dtype", "bf16"}, {"mode", mode}}, &a100), name);
  };
  CHECK(cast(fp32, "full") == 2'020'000);
  CHECK(cast(fp32, "autocast") == 4'020'000);  // gradients stay fp32
  CHECK(cast(bf16, "full") == 4'020'000);      // halved already
}
