#include "models/editing/kernels/foreach_update.h"

#include <doctest/doctest.h>

#include "tests/models/toy_run.h"

using foretrace::Phase;
using foretrace::editing::find_foreach_updates;
using foretrace::editing::foreach_pass;
using foretrace::test::ToyRun;

TEST_CASE("foreach update: the functor of a kernel tells how many lists it reads") {
  const auto add = foreach_pass(
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
      "namespace)::TensorListMetadata<3>, at::native::(anonymous "
      "namespace)::BinaryOpListAlphaFunctor<float, 3, 2, 2>, std::plus<float>, float>(int)");
  CHECK(add.lists == 3);
  CHECK(add.read == 2);
  CHECK(foreach_pass("multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, float>")
            .lists == 0);
  CHECK(foreach_pass("multi_tensor_apply_kernel<TensorListMetadata<2>>").lists == 0);
  CHECK(foreach_pass("vectorized_elementwise_kernel<4, Functor<float, 2, 2, 0>>").lists == 0);
}

TEST_CASE("foreach update: one pass moves every operand once, at the pace of the middle one") {
  ToyRun run;
  const auto side = run.add_stream(9);
  // Adam: 100 ns for each number per parameter; 3, 2, 4, 2 and 4 numbers.
  const auto pass = [&](const char* functor, std::int64_t ns) {
    const std::string name =
        std::string("multi_tensor_apply_kernel<TensorListMetadata<2>, ") + functor + ">";
    return run.kernel({.name = name, .duration_ns = ns, .phase = Phase::update});
  };
  pass("TernaryOpScalarFunctor<float, 2, 2, 0>, Lerp", 300);
  const auto decayed = pass("BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies", 200);
  pass("PointwiseOpScalarFunctor<float, 3, 3, 0>, std::multiplies", 400);
  pass("UnaryOpFunctor<float, 2, 1, 1>, Sqrt", 200);
  pass("PointwiseOpScalarListFunctor<float, 3, 3, 0>, std::divides", 400);
  run.bystander(side, decayed, 10);
  const auto updates = find_foreach_updates(run.build());
  REQUIRE(updates.size() == 1);
  CHECK(updates[0].calls.size() == 5);
  CHECK(updates[0].passes == 5);
  CHECK(updates[0].device_ns == 1500);
  CHECK(updates[0].fused_ns == 700);
  CHECK(updates[0].launches == 1);
}

TEST_CASE("foreach update: one operator alone, other phases and a wait between are none") {
  const char* add =
      "multi_tensor_apply_kernel<TensorListMetadata<2>, BinaryFunctor<float, 2, 2, 0>>";
  const char* mul =
      "multi_tensor_apply_kernel<TensorListMetadata<1>, BinaryFunctor<float, 1, 1, 0>>";
  ToyRun alone;
  for (int i = 0; i < 3; ++i) {
    alone.kernel({.name = add, .duration_ns = 100, .phase = Phase::update});
  }
  CHECK(find_foreach_updates(alone.build()).empty());
  ToyRun other;
  other.kernel({.name = add, .duration_ns = 100, .phase = Phase::backward});
  other.kernel({.name = mul, .duration_ns = 100, .phase = Phase::backward});
  CHECK(find_foreach_updates(other.build()).empty());
  ToyRun apart;
  apart.kernel({.name = add, .duration_ns = 100, .phase = Phase::update});
  apart.synchronize();
  apart.kernel({.name = mul, .duration_ns = 100, .phase = Phase::update});
  CHECK(find_foreach_updates(apart.build()).empty());
}
