#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& sparse_convolution;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::sparse_convolution;

TEST_CASE("sparse_convolution: a tenth of the weights at half of the rate, a fifth of the time") {
  ToyRun run;
  run.kernel({.name = "implicit_convolve_sgemm", .duration_ns = 4200 + 100000});
  const auto graph = run.build();
  const auto sparse = after(graph, sparse_convolution, {{"density", "0.1"}, {"efficiency", "0.5"}});
  CHECK(duration_of(sparse, "implicit_convolve_sgemm") == 4200 + 20000);
  // Denser than the kernels are efficient: the dense one stays.
  const auto dense = after(graph, sparse_convolution, {{"density", "0.5"}, {"efficiency", "0.3"}});
  CHECK(span_ns(dense) == span_ns(graph));
}

TEST_CASE("sparse_convolution: offsets are grouped, redundant bytes go") {
  ToyRun run;
  for (int offset = 0; offset < 3; ++offset) {
    run.kernel({.name = "gather_kernel", .duration_ns = 10600});
    run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 20000});
    run.kernel({.name = "scatter_kernel", .duration_ns = 10600});
  }
  const auto grouped = after(run.build(), sparse_convolution,
                             {{"density", "1"}, {"mode", "points"}, {"redundant", "0.5"}});
  CHECK(grouped.size() == 6);
  // 3 x 10.6 us of gathers: one ramp-up of 1.8 us and half of the other 30 us.
  CHECK(duration_of(grouped, "grouped gather") == 1800 + 15000);
  CHECK(duration_of(grouped, "grouped product") == 60000);
}

TEST_CASE("sparse_convolution: declines what is not there") {
  ToyRun run;
  run.kernel({.name = "gather_kernel", .duration_ns = 10});
  const auto graph = run.build();
  CHECK_FALSE(apply_to(graph, sparse_convolution, {{"density", "0.2"}}).ok());
  const auto declined = apply_to(graph, sparse_convolution, {{"density", "1"}, {"mode", "points"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}

TEST_CASE("sparse_convolution: recorded filters keep their weights with an index for each") {
  ToyRun run;
  const auto side = run.add_stream(9);
  const auto kernel = run.kernel({.name = "implicit_convolve_sgemm",
                                  .duration_ns = 4200 + 100000,
                                  .operator_name = "aten::cudnn_convolution",
                                  .shapes = "[[8, 512, 14, 14], [512, 512, 3, 3]]"});
  run.bystander(side, kernel, 10);
  constexpr std::int64_t bytes = std::int64_t{512} * 512 * 9 * 4;
  run.builder().add_tensor(
      {.bytes = bytes, .device = 0, .category = foretrace::TensorCategory::weight});
  run.synchronize();
  const auto change =
      apply_to(run.build(), sparse_convolution, {{"density", "0.1"}, {"efficiency", "0.5"}});
  REQUIRE_MESSAGE(change.ok(), change.error().message);
  REQUIRE(change->tensors.size() == 1);
  // A tenth of them, in 4 bytes and 2: 15 %, in blocks of 512 bytes.
  CHECK(static_cast<double>(change->tensors[0].bytes) ==
        doctest::Approx(0.15 * bytes).epsilon(0.001));
}
