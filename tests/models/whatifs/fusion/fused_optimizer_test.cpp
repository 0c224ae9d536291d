#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& fused_optimizer;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::Given;
using foretrace::test::span_ns;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::fused_optimizer;

namespace {

const Given one_launch = {{"tensors_per_launch", "0"}, {"kept_host", "0"}};

// `tensors` times mul_ and add_ on tensors of 1000 numbers.
void update(ToyRun& run, int tensors, std::int64_t kernel_ns, std::int64_t launch_ns,
            const char* shapes = "[[1000], []]") {
  for (int i = 0; i < tensors; ++i) {
    for (const char* op : {"aten::mul_", "aten::add_"}) {
      run.kernel({.name = "vectorized_elementwise_kernel<4, float>",
                  .duration_ns = kernel_ns,
                  .operator_name = op,
                  .shapes = shapes,
                  .phase = Phase::update,
                  .launch_ns = launch_ns});
    }
  }
}

}  // namespace

TEST_CASE("fused_optimizer: k launches of L0 with empty kernels shrink by (k - 1) L0") {
  ToyRun run;
  update(run, 50, 0, 5000, "");
  run.mark();
  const auto graph = run.build();
  REQUIRE(span_ns(graph) == 100 * 5000);
  CHECK(span_ns(after(graph, fused_optimizer, one_launch)) == 5000);
}

TEST_CASE("fused_optimizer: without shapes the kernel takes the sum of what it replaces") {
  ToyRun run;
  update(run, 10, 300, 0, "");
  const auto fused = after(run.build(), fused_optimizer, one_launch);
  CHECK(count_of(fused, "multi-tensor update") == 1);
  CHECK(duration_of(fused, "multi-tensor update") == 20 * 300);
}

TEST_CASE("fused_optimizer: with shapes it takes its bytes, never more than what it replaces") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  update(run, 4, 1000000, 0, "[[10000000], []]");
  const auto fused = after(run.build(), fused_optimizer, one_launch, &a100);
  // Momentum: 20 B for each of 40 million parameters at 0.80 of 1.555 TB/s, 1.8 us of ramp-up.
  CHECK(static_cast<double>(duration_of(fused, "multi-tensor update")) ==
        doctest::Approx(1800 + 4e7 * 20 / (1.555e12 * 0.80) * 1e9).epsilon(1e-6));
  ToyRun small;
  update(small, 4, 10, 0, "[[10000000], []]");
  CHECK(duration_of(after(small.build(), fused_optimizer, one_launch, &a100),
                    "multi-tensor update") == 80);
}

TEST_CASE("fused_optimizer: launches hold a bounded number of tensors") {
  ToyRun run;
  update(run, 100, 1000, 0);
  // 100 tensors, 36 per launch: 3 launches.
  CHECK(count_of(after(run.build(), fused_optimizer), "multi-tensor update") == 3);
}

TEST_CASE("fused_optimizer: a share of the host time between launches stays") {
  ToyRun run;
  for (int i = 0; i < 11; ++i) {
    run.kernel({.operator_name = "aten::add_", .phase = Phase::update, .segment_ns = 1000});
  }
  run.mark();
  const auto graph = run.build();
  // The segment before the first launch stays whole, a tenth of the ten others.
  CHECK(span_ns(after(graph, fused_optimizer, {{"tensors_per_launch", "0"}})) == 1000 + 1000);
}

TEST_CASE("fused_optimizer: zeroing gradients, other phases and other updates are left alone") {
  ToyRun run;
  run.kernel({.name = "elementwise_kernel<FillFunctor<float>>",
              .duration_ns = 7,
              .operator_name = "aten::fill_",
              .phase = Phase::update});
  run.kernel({.name = "elementwise_kernel<float>", .duration_ns = 9, .phase = Phase::backward});
  update(run, 5, 10, 0);
  run.mark();
  update(run, 5, 10, 0);
  const auto fused = after(run.build(), fused_optimizer, one_launch);
  CHECK(count_of(fused, "multi-tensor update") == 2);
  CHECK(count_of(fused, "elementwise_kernel<FillFunctor<float>>") == 1);
  CHECK(count_of(fused, "elementwise_kernel<float>") == 1);
}

TEST_CASE("fused_optimizer: declines without an update and after itself") {
  ToyRun run;
  run.kernel({.duration_ns = 10});
  run.kernel({.duration_ns = 10});
  const auto declined = apply_to(run.build(), fused_optimizer);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
  ToyRun again;
  update(again, 5, 10, 0);
  const auto twice = apply_to(after(again.build(), fused_optimizer), fused_optimizer);
  REQUIRE_FALSE(twice.ok());
  CHECK(twice.error().code == ErrorCode::no_match);
}

TEST_CASE("fused_optimizer: passes of foreach operators become one that moves operands once") {
  ToyRun run;
  const auto side = run.add_stream(9);
  const auto pass = [&](const char* functor, std::int64_t ns) {
    const std::string name =
        std::string("multi_tensor_apply_kernel<TensorListMetadata<2>, ") + functor + ">";
    return run.kernel({.name = name, .duration_ns = ns, .phase = Phase::update, .launch_ns = 5000});
  };
  // SGD with momentum: 2 + 3 + 3 numbers per parameter, 1 us each; a fused kernel moves 5.
  const auto first = pass("BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies", 2000);
  pass("BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus", 3000);
  const auto last = pass("BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus, int", 3000);
  run.bystander(side, first, 10);
  run.bystander(side, last, 10);
  const auto graph = run.build();
  const auto fused = after(graph, fused_optimizer);
  // A launch over two lists takes 64 tensors and is half full on average; one over three takes 48.
  CHECK(count_of(fused, "multi-tensor update") == 1);
  CHECK(duration_of(fused, "multi-tensor update") == 5000);
  CHECK(count_of(fused, "bystander") == 2);
  CHECK(span_ns(fused) < span_ns(graph));
}

TEST_CASE("fused_optimizer: an update that is one kernel already is declined") {
  ToyRun run;
  for (int i = 0; i < 4; ++i) {
    run.kernel({.name = "multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>>",
                .duration_ns = 1000,
                .phase = Phase::update});
  }
  CHECK_FALSE(apply_to(run.build(), fused_optimizer).ok());
}
