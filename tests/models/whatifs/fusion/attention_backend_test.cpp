#include "models/whatifs/fusion/attention_table.h"
#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& attention_backend;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::TaskGraph;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::attention_backend;

namespace {

constexpr const char* flash2 =
    "pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, bfloat16>>";
constexpr const char* flash2_backward =
    "pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<bfloat16>";
constexpr const char* scores = "scores_bf16_s16816gemm_bf16_256x128_tn";
constexpr const char* values = "values_bf16_s16816gemm_bf16_256x128_tn";

// Forward and backward of 2048 positions, 16 heads of 128; another stream waits for the forward.
TaskGraph fused() {
  ToyRun run;
  const auto side = run.add_stream(9);
  const auto forward = run.kernel({.name = flash2,
                                   .duration_ns = 1'004'200,
                                   .operator_name = "aten::_scaled_dot_product_flash_attention",
                                   .shapes = "[[8, 16, 2048, 128], [8, 16, 2048, 128], "
                                             "[8, 16, 2048, 128]]"});
  run.bystander(side, forward, 900'000);
  run.kernel({.name = flash2_backward,
              .duration_ns = 2'004'200,
              .operator_name = "aten::_scaled_dot_product_flash_attention_backward",
              .shapes = "[[8, 16, 2048, 128], [8, 16, 2048, 128], [8, 16, 2048, 128], "
                        "[8, 16, 2048, 128]]",
              .phase = Phase::backward});
  run.synchronize();
  return run.build();
}

double rate(const char* backend, bool backward, bool causal) {
  const auto document =
      foretrace::test::shipped()->document({"table of attention", "attention"}, "h100");
  REQUIRE(document.ok());
  const auto table = foretrace::editing::AttentionTable::from(**document, "h100");
  REQUIRE(table.ok());
  const auto found = table->rate(
      {.backend = backend, .backward = backward, .causal = causal, .head = 128, .positions = 2048});
  REQUIRE(found.has_value());
  return found->share;
}

}  // namespace

TEST_CASE("attention_backend: fused kernels take their time by the ratio of two published rates") {
  const auto h100 = toy_accelerator("h100_sxm");
  const auto graph = fused();
  const auto faster = after(graph, attention_backend, {{"backend", "flash3"}}, &h100);
  // Heads of 128, 2,048 positions, no mask, by the rows of the table.
  const auto share = [](const char* backend, bool backward, bool causal) {
    return rate(backend, backward, causal);
  };
  CHECK(duration_of(faster, flash2) ==
        doctest::Approx(4200 + 1e6 * share("flash2", false, false) / share("flash3", false, false))
            .epsilon(1e-4));
  CHECK(duration_of(faster, flash2_backward) ==
        doctest::Approx(4200 + 2e6 * share("flash2", true, false) / share("flash3", true, false))
            .epsilon(1e-4));
  CHECK(duration_of(faster, flash2) < 700'000);
  CHECK(span_ns(faster) == duration_of(faster, flash2) + duration_of(faster, flash2_backward));
  const auto told = apply_to(graph, attention_backend, {{"backend", "flash3"}}, &h100);
  REQUIRE(told.ok());
  CHECK(told->notes[0].find("mask=full") != std::string::npos);
  const auto causal =
      after(graph, attention_backend, {{"backend", "cudnn"}, {"mask", "causal"}}, &h100);
  CHECK(duration_of(causal, flash2) ==
        doctest::Approx(4200 + 1e6 * share("flash2", false, true) / share("cudnn", false, true))
            .epsilon(1e-4));
}

TEST_CASE(
    "attention_backend: single operators become one kernel by FLOPs, behind what they wait for") {
  const auto h100 = toy_accelerator("h100_sxm");
  ToyRun run;
  const auto side = run.add_stream(9);
  const auto own = run.stream();
  run.use_stream(side);
  const auto gate = run.kernel({.name = "gate", .duration_ns = 3'000'000});
  run.use_stream(own);
  const auto first = run.kernel({.name = scores,
                                 .duration_ns = 800'000,
                                 .operator_name = "aten::bmm",
                                 .shapes = "[[128, 2048, 128], [128, 128, 2048]]"});
  run.wait_for(first, gate);
  run.kernel({.name = "softmax_warp_forward<c10::BFloat16>", .duration_ns = 500'000});
  const auto last = run.kernel({.name = values,
                                .duration_ns = 800'000,
                                .operator_name = "aten::bmm",
                                .shapes = "[[128, 2048, 2048], [128, 2048, 128]]"});
  run.bystander(side, last, 100'000);
  run.synchronize();
  const auto changed = after(run.build(), attention_backend, {{"backend", "flash3"}}, &h100);
  CHECK(count_of(changed, scores) == 0);
  // 4 x 128 x 2048 x 2048 x 128 FLOPs at 625 TFLOP/s: 440 us; the other stream ends last.
  const double flops = 4.0 * 128 * 2048 * 2048 * 128;
  CHECK(duration_of(changed, "flash3 attention") ==
        doctest::Approx(4200 + flops / 625e12 * 1e9).epsilon(1e-4));
  CHECK(span_ns(changed) >= 3'000'000 + duration_of(changed, "flash3 attention") + 100'000);
}

TEST_CASE("attention_backend: unless told, it declines where single operators are faster already") {
  // The kernel would take 440 us, the operators take 30.
  const auto h100 = toy_accelerator("h100_sxm");
  ToyRun run;
  run.kernel({.name = scores,
              .duration_ns = 10'000,
              .operator_name = "aten::bmm",
              .shapes = "[[128, 2048, 128], [128, 128, 2048]]"});
  run.kernel({.name = "softmax_warp_forward<c10::BFloat16>", .duration_ns = 10'000});
  run.kernel({.name = values,
              .duration_ns = 10'000,
              .operator_name = "aten::bmm",
              .shapes = "[[128, 2048, 2048], [128, 2048, 128]]"});
  run.synchronize();
  const TaskGraph graph = run.build();
  CHECK(apply_to(graph, attention_backend, {{"backend", "flash3"}}, &h100).ok());
  const auto declined = apply_to(graph, attention_backend, {}, &h100);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
  CHECK_MESSAGE(declined.error().message.find(
                    "attention runs in single operators: no kernel of the table") == 0,
                declined.error().message);
}

TEST_CASE(
    "attention_backend: the same backend, other devices and fp32 are declined with the reason") {
  const auto h100 = toy_accelerator("h100_sxm");
  const auto same = apply_to(fused(), attention_backend, {{"backend", "flash2"}}, &h100);
  REQUIRE_FALSE(same.ok());
  CHECK(same.error().message.find("already") != std::string::npos);
  const auto v100 = toy_accelerator("v100_sxm2_32gb");
  const auto old = apply_to(fused(), attention_backend, {}, &v100);
  REQUIRE_FALSE(old.ok());
  CHECK(old.error().code == ErrorCode::no_match);
  // AMD's 9.4 is no Hopper.
  const auto mi300x = toy_accelerator("mi300x");
  const auto other = apply_to(fused(), attention_backend, {}, &mi300x);
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().code == ErrorCode::no_match);
  const auto a100 = toy_accelerator();
  const auto missing = apply_to(fused(), attention_backend, {{"backend", "flash3"}}, &a100);
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().message.find("flash2") != std::string::npos);
  ToyRun run;
  run.kernel({.name = "fmha_cutlassF_f32_aligned_64x64_rf_sm80", .duration_ns = 100'000});
  const auto single = apply_to(run.build(), attention_backend, {{"backend", "flash2"}}, &a100);
  REQUIRE_FALSE(single.ok());
  CHECK(single.error().message.find("type=half") != std::string::npos);
  // No advice to run in what it runs in.
  CHECK(single.error().message.find("backend=efficient") == std::string::npos);
}

TEST_CASE("attention_backend: unless told, the fastest kernel of the device's table is taken") {
  // On an H100 FlashAttention-3 has the highest rates of the table for heads of 128; the table of
  // the A100 has no such rows, and nothing that is faster than FlashAttention-2.
  const auto h100 = toy_accelerator("h100_sxm");
  const auto chosen = after(fused(), attention_backend, {}, &h100);
  const auto flash3 = after(fused(), attention_backend, {{"backend", "flash3"}}, &h100);
  CHECK(duration_of(chosen, flash2) == duration_of(flash3, flash2));
  CHECK(duration_of(chosen, flash2_backward) == duration_of(flash3, flash2_backward));
  const auto a100 = toy_accelerator();
  const auto none = apply_to(fused(), attention_backend, {}, &a100);
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().code == ErrorCode::no_match);
  CHECK(none.error().message.find("attention runs in flash2: no other") != std::string::npos);
  // Memory-efficient attention of 16 bit takes the rates of FlashAttention-2 there.
  ToyRun run;
  run.kernel({.name = "fmha_cutlassF_bf16_aligned_64x64_rf_sm80",
              .duration_ns = 3'000'000,
              .operator_name = "aten::_scaled_dot_product_efficient_attention",
              .shapes = "[[8, 16, 2048, 128], [8, 16, 2048, 128], [8, 16, 2048, 128]]"});
  const auto told = apply_to(run.build(), attention_backend, {}, &a100);
  REQUIRE_MESSAGE(told.ok(), told.error().message);
  CHECK(told->notes[0].find("attention in flash2") != std::string::npos);
}

TEST_CASE("attention_backend: 16 bit alone is no answer where the time was measured in fp32") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  run.kernel({.name = "fmha_cutlassF_f32_aligned_64x64_rf_sm80", .duration_ns = 100'000});
  const auto alone =
      apply_to(run.build(), attention_backend, {{"backend", "flash2"}, {"type", "half"}}, &a100);
  REQUIRE_FALSE(alone.ok());
  CHECK(alone.error().code == ErrorCode::no_match);
  CHECK(alone.error().message.find("mixed_precision beside it") != std::string::npos);
}

TEST_CASE("attention_backend: what stays since it was measured in fp32 is told beside what goes") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  const auto side = run.add_stream(9);
  run.kernel({.name = "fmha_cutlassF_f32_aligned_64x64_rf_sm80", .duration_ns = 100'000});
  const auto half = run.kernel({.name = "fmha_cutlassF_bf16_aligned_64x64_rf_sm80",
                                .duration_ns = 100'000,
                                .operator_name = "aten::_scaled_dot_product_efficient_attention",
                                .shapes = "[[8, 16, 2048, 128], [8, 16, 2048, 128], "
                                          "[8, 16, 2048, 128]]"});
  run.bystander(side, half, 10'000);
  const auto told =
      apply_to(run.build(), attention_backend, {{"backend", "flash2"}, {"type", "half"}}, &a100);
  REQUIRE_MESSAGE(told.ok(), told.error().message);
  CHECK(told->notes[0].find("changes them): 1 attention") != std::string::npos);
}
