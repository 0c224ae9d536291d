#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& cortex;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::cortex;

namespace {

foretrace::TaskGraph recursion(int levels) {
  ToyRun run;
  for (int i = 0; i < levels; ++i) {
    run.kernel({.name = "ampere_sgemm_32x32_tn",
                .duration_ns = 24200,
                .operator_name = "aten::mm",
                .shapes = "[[8, 1024], [1024, 1024]]",
                .launch_ns = 5000});
    run.kernel({.name = "elementwise_kernel", .duration_ns = 2800, .launch_ns = 5000});
  }
  run.mark();
  return run.build();
}

}  // namespace

TEST_CASE("cortex: one kernel per level; weights are read in the first one") {
  const auto a100 = toy_accelerator();
  const auto fused = after(recursion(4), cortex, {{"levels", "4"}, {"sync", "0 us"}}, &a100);
  CHECK(count_of(fused, "level of the recursion") == 4);
  // 20 + 1 us of work and one ramp-up of 4.2 us.
  CHECK(duration_of(fused, "level of the recursion") == 25200);
  std::int64_t last = 0;
  for (std::size_t t = 0; t < fused.size(); ++t) {
    const auto task = foretrace::make_id<foretrace::TaskId>(t);
    if (fused.name(task) == "level of the recursion") last = fused.duration_ns(task);
  }
  const double weights = 4.0 * 1024 * 1024 / (0.763 * a100.memory_bandwidth) * 1e9;
  CHECK(last == doctest::Approx(25200 - weights).epsilon(1e-4));
}

TEST_CASE("cortex: every level costs a synchronization") {
  const auto graph = recursion(4);
  const auto cheap = after(graph, cortex, {{"levels", "4"}, {"sync", "0 us"}});
  const auto dear = after(graph, cortex, {{"levels", "4"}, {"sync", "2 us"}});
  CHECK(duration_of(dear, "level of the recursion") ==
        duration_of(cheap, "level of the recursion") + 2000);
}

TEST_CASE("cortex: kernels that do not divide into levels are declined") {
  for (const char* levels : {"3", "8"}) {
    const auto declined = apply_to(recursion(4), cortex, {{"levels", levels}});
    REQUIRE_FALSE(declined.ok());
    CHECK(declined.error().code == ErrorCode::no_match);
  }
}

TEST_CASE(
    "cortex: layers with weights of their own, and levels that do another thing, are declined") {
  ToyRun stack;
  const auto side = stack.add_stream(9);
  for (int i = 0; i < 4; ++i) {
    const auto layer = stack.builder().add_layer("Bert/layer" + std::to_string(i));
    const auto product = stack.kernel({.name = "ampere_sgemm_32x32_tn",
                                       .duration_ns = 24200,
                                       .operator_name = "aten::mm",
                                       .shapes = "[[8, 1024], [1024, 1024]]",
                                       .layer = layer});
    stack.kernel({.name = "elementwise_kernel", .duration_ns = 2800, .layer = layer});
    stack.bystander(side, product, 100);
  }
  CHECK_FALSE(apply_to(stack.build(), cortex, {{"levels", "4"}, {"select", "stream=7"}}).ok());
  ToyRun mixed;
  for (const char* op : {"aten::mm", "aten::add", "aten::mm", "aten::tanh"}) {
    mixed.kernel({.name = "kernel", .duration_ns = 5000, .operator_name = op});
  }
  const auto declined = apply_to(mixed.build(), cortex, {{"levels", "2"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().message.find("equal levels") != std::string::npos);
}
