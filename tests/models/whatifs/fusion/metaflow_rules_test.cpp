#include "models/hardware/costs/gemm_model.h"
#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& metaflow_rules;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::metaflow_rules;

namespace {

// Queries, keys and values of width 1024 from 2048 rows, in modules of one parent.
foretrace::TaskGraph attention_input() {
  ToyRun run;
  const auto parent = run.builder().add_layer("Attention");
  for (const char* name : {"Attention/q", "Attention/k", "Attention/v"}) {
    run.kernel({.name = "ampere_sgemm_128x64_tn",
                .duration_ns = 300000,
                .operator_name = "aten::addmm",
                .shapes = "[[1024], [2048, 1024], [1024, 1024]]",
                .segment_ns = 10000,
                .layer = run.builder().add_layer(name, parent)});
  }
  return run.build();
}

foretrace::TaskGraph convolution_block(bool training) {
  ToyRun run;
  run.kernel({.name = "implicit_convolve_sgemm<float>", .duration_ns = 50000});
  run.kernel({.name = "bn_fw_inf_1C11_kernel_NCHW", .duration_ns = 20000});
  run.kernel(
      {.name = "relu elementwise_kernel", .duration_ns = 10000, .operator_name = "aten::relu"});
  if (training) run.kernel({.name = "wgrad", .duration_ns = 10, .phase = Phase::backward});
  return run.build();
}

}  // namespace

TEST_CASE("metaflow_rules: products of one input become one with the summed width") {
  const auto a100 = toy_accelerator();
  const auto merged = after(attention_input(), metaflow_rules, {}, &a100);
  CHECK(merged.size() == 2);
  const foretrace::GemmShape one{1, 2048, 1024, 1024};
  const foretrace::GemmShape all{1, 2048, 3072, 1024};
  const double ratio = foretrace::gemm_ns(a100, foretrace::Precision::fp32, all) /
                       (3 * foretrace::gemm_ns(a100, foretrace::Precision::fp32, one));
  CHECK(ratio < 1);
  CHECK(duration_of(merged, "merged product") == doctest::Approx(900000 * ratio).epsilon(1e-4));
}

TEST_CASE("metaflow_rules: in inference batch norm and ReLU vanish in the convolution") {
  const auto folded = after(convolution_block(false), metaflow_rules);
  CHECK(count_of(folded, "bn_fw_inf_1C11_kernel_NCHW") == 0);
  CHECK(count_of(folded, "relu elementwise_kernel") == 0);
  CHECK(duration_of(folded, "implicit_convolve_sgemm<float>") == 50000);
}

TEST_CASE("metaflow_rules: in training batch norm stays, and ReLU behind it, too") {
  const auto declined = apply_to(convolution_block(true), metaflow_rules);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}

TEST_CASE("metaflow_rules: every rule can be left out") {
  const auto a100 = toy_accelerator();
  CHECK_FALSE(apply_to(attention_input(), metaflow_rules, {{"merge", "false"}}, &a100).ok());
  const auto kept = after(convolution_block(false), metaflow_rules, {{"epilogue", "false"}});
  CHECK(count_of(kept, "relu elementwise_kernel") == 1);
}

TEST_CASE("metaflow_rules: what a product gives to its epilogue is not allocated") {
  ToyRun run;
  const auto side = run.add_stream(9);
  const auto product = run.kernel({.name = "ampere_sgemm_128x64_tn",
                                   .duration_ns = 100000,
                                   .operator_name = "aten::mm",
                                   .shapes = "[[1024, 1024], [1024, 1024]]"});
  const auto relu = run.kernel({.name = "vectorized_elementwise_kernel<4, float>",
                                .duration_ns = 20000,
                                .operator_name = "aten::relu",
                                .shapes = "[[1024, 1024]]"});
  const auto next = run.kernel({.name = "reduce_kernel<512, 1>", .duration_ns = 5000});
  run.bystander(side, relu, 10);
  const auto call = [&](foretrace::TaskId kernel) {
    return foretrace::make_id<foretrace::TaskId>(foretrace::index(kernel) - 1);
  };
  foretrace::Tensor made;
  made.bytes = 4 << 20;
  made.device = 0;
  made.category = foretrace::TensorCategory::activation;
  made.operator_name = run.builder().add_name("aten::mm");
  made.allocated_in = call(product);
  made.freed_in = call(next);
  run.builder().add_tensor(made);
  made.operator_name = run.builder().add_name("aten::relu");
  made.allocated_in = call(relu);
  made.freed_in = foretrace::none<foretrace::TaskId>;
  run.builder().add_tensor(made);
  run.synchronize();
  const auto change = apply_to(run.build(), metaflow_rules);
  REQUIRE_MESSAGE(change.ok(), change.error().message);
  REQUIRE(change->tensors.size() == 1);
  CHECK(index(change->tensors[0].tensor) == 0);
  CHECK(change->tensors[0].bytes == 0);
}
