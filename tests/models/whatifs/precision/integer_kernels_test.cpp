#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& integer_kernels;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::integer_kernels;

namespace {

foretrace::TaskGraph transformer() {
  ToyRun run;
  run.kernel({.name = "softmax_warp_forward", .duration_ns = 1000});
  run.kernel({.name = "vectorized_layer_norm_kernel", .duration_ns = 500});
  run.kernel({.name = "elementwise GeluCUDAKernelImpl", .duration_ns = 200});
  run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 3000});
  run.kernel({.name = "bn_fw_inf", .duration_ns = 400});
  return run.build();
}

}  // namespace

TEST_CASE("integer_kernels: softmax, GELU and layer norm take a fifth, the rest its time") {
  const auto graph = transformer();
  const auto integer = after(graph, integer_kernels, {{"factor", "0.2"}});
  CHECK(duration_of(integer, "softmax_warp_forward") == 200);
  CHECK(duration_of(integer, "vectorized_layer_norm_kernel") == 100);
  CHECK(duration_of(integer, "elementwise GeluCUDAKernelImpl") == 40);
  CHECK(span_ns(graph) - span_ns(integer) == 800 + 400 + 160);
  CHECK(span_ns(after(graph, integer_kernels, {{"factor", "1"}})) == span_ns(graph));
}

TEST_CASE("integer_kernels: on a CPU the labelled parts of host time shrink") {
  ToyRun run;
  const auto mark = run.mark("end", 1000);
  run.label(mark, "aten::softmax", 500);
  run.label(mark, "aten::linear", 300);
  const auto graph = run.build();
  CHECK(span_ns(graph) - span_ns(after(graph, integer_kernels, {{"factor", "0.2"}})) == 400);
}

TEST_CASE("integer_kernels: declines where there are none") {
  ToyRun run;
  run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 3000});
  const auto declined = apply_to(run.build(), integer_kernels, {{"factor", "0.2"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}

TEST_CASE("integer_kernels: dispatching a kernel of a device takes as long as before") {
  ToyRun run;
  const auto side = run.add_stream(9);
  const auto softmax = run.kernel({.name = "softmax_warp_forward", .duration_ns = 1000});
  run.bystander(side, softmax, 300);
  const auto mark = run.mark("end", 5000);
  run.label(mark, "aten::softmax", 4000);
  const auto graph = run.build();
  const auto integer = after(graph, integer_kernels, {{"factor", "0.2"}});
  CHECK(duration_of(integer, "softmax_warp_forward") == 200);
  CHECK(span_ns(integer) == 5000);
}
