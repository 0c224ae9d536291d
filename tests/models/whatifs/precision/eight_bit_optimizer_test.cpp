#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& eight_bit_optimizer;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::eight_bit_optimizer;

TEST_CASE("eight_bit_optimizer: fused Adam moves 16 instead of 28 bytes per parameter") {
  ToyRun run;
  run.kernel({.name = "multi_tensor_apply_kernel<FusedAdamMathFunctor<float>>",
              .duration_ns = 29800,
              .phase = Phase::update});
  run.kernel({.name = "multi_tensor_apply_kernel<SGDMomentum>",
              .duration_ns = 21800,
              .phase = Phase::update});
  const auto eight = after(run.build(), eight_bit_optimizer);
  CHECK(duration_of(eight, "multi_tensor_apply_kernel<FusedAdamMathFunctor<float>>") ==
        1800 + 28000 * 16 / 28);
  // One state: 14 of 20 bytes.
  CHECK(duration_of(eight, "multi_tensor_apply_kernel<SGDMomentum>") == 1800 + 20000 * 14 / 20);
}

TEST_CASE("eight_bit_optimizer: single operators become one kernel per tensor") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  // Adam on two tensors of 50 million numbers: four operators each.
  for (int tensor = 0; tensor < 2; ++tensor) {
    for (const char* op : {"aten::mul_", "aten::addcmul_", "aten::sqrt", "aten::addcdiv_"}) {
      run.kernel({.name = "elementwise_kernel<float>",
                  .duration_ns = 400000,
                  .operator_name = op,
                  .shapes = "[[50000000]]",
                  .phase = Phase::update});
    }
  }
  const auto eight = after(run.build(), eight_bit_optimizer, {}, &a100);
  CHECK(count_of(eight, "8-bit update") == 2);
  CHECK(count_of(eight, "elementwise_kernel<float>") == 0);
  // 100 million parameters x 16 bytes at 0.80 of the bandwidth, half of it in each kernel.
  const double ns = (1800 + 1e8 * 16 / (0.80 * a100.memory_bandwidth) * 1e9) / 2;
  CHECK(duration_of(eight, "8-bit update") == doctest::Approx(ns).epsilon(1e-4));
}

TEST_CASE("eight_bit_optimizer: large states in memory shrink, small ones stay") {
  ToyRun run;
  run.kernel({.name = "multi_tensor_apply_kernel<FusedAdamMathFunctor<float>>",
              .duration_ns = 29800,
              .phase = Phase::update});
  const auto add = [&](std::int64_t bytes, foretrace::TensorCategory category) {
    run.builder().add_tensor({.bytes = bytes,
                              .category = category,
                              .phase = Phase::update,
                              .allocated_in = foretrace::TaskId{0}});
  };
  add(32768, foretrace::TensorCategory::optimizer_state);
  add(4096, foretrace::TensorCategory::optimizer_state);
  add(65536, foretrace::TensorCategory::temporary);
  const auto graph = after(run.build(), eight_bit_optimizer);
  const auto& tensors = graph.context().tensors;
  REQUIRE(tensors.size() == 5);
  // 8192 numbers: 8192 bytes, and 4 scales (blocks of 2048) in a block of 512.
  CHECK(tensors[0].bytes == 8192 + 512);
  CHECK(tensors[1].bytes == 4096);  // 1024 numbers are below 4096: unchanged
  CHECK(tensors[2].bytes == 0);     // one kernel needs no temporary
  CHECK(tensors[3].bytes == 1024);  // code tables
  CHECK(tensors[4].bytes == 1024);
}

TEST_CASE(
    "eight_bit_optimizer: it says that the known memory never held states, where it did not") {
  const auto tells = [](std::initializer_list<foretrace::TensorCategory> categories) {
    ToyRun run;
    run.kernel({.name = "multi_tensor_apply_kernel<FusedAdamMathFunctor<float>>",
                .duration_ns = 29800,
                .phase = Phase::update});
    for (const auto category : categories) {
      run.builder().add_tensor(
          {.bytes = 32768, .category = category, .allocated_in = foretrace::TaskId{0}});
    }
    const auto change = apply_to(run.build(), eight_bit_optimizer);
    REQUIRE_MESSAGE(change.ok(), change.error().message);
    return change->notes.back().find("contains no optimizer states") != std::string::npos;
  };
  using enum foretrace::TensorCategory;
  CHECK(tells({weight}));
  CHECK_FALSE(tells({weight, optimizer_state}));
  CHECK_FALSE(tells({}));  // no memory is known at all
}

TEST_CASE("eight_bit_optimizer: plain SGD has no states") {
  ToyRun run;
  run.kernel(
      {.name = "multi_tensor_apply_kernel<Add>", .duration_ns = 100, .phase = Phase::update});
  run.kernel({.name = "elementwise_kernel<float>",
              .duration_ns = 100,
              .operator_name = "aten::add_",
              .phase = Phase::update});
  const auto declined = apply_to(run.build(), eight_bit_optimizer);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}
