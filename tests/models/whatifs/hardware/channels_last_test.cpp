#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& channels_last;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::channels_last;

namespace {

foretrace::TaskGraph convolutions() {
  ToyRun run;
  for (int i = 0; i < 4; ++i) {
    run.kernel({.name = "void cudnn::ops::nchwToNhwcKernel<float>", .duration_ns = 7});
    run.kernel({.name = "sm80_xmma_fprop_implicit_gemm_nhwc", .duration_ns = 30, .segment_ns = 3});
  }
  run.synchronize();
  return run.build();
}

}  // namespace

TEST_CASE("channels_last: layout changes are removed, convolutions keep their time") {
  const auto graph = convolutions();
  const auto nhwc = after(graph, channels_last);
  // The host time before the first convolution (3 ns) was hidden behind a layout change.
  CHECK(span_ns(graph) - span_ns(nhwc) == 4 * 7 - 3);
  CHECK(count_of(nhwc, "sm80_xmma_fprop_implicit_gemm_nhwc") == 4);
}

TEST_CASE("channels_last: kept changes stay") {
  const auto graph = convolutions();
  CHECK(span_ns(graph) - span_ns(after(graph, channels_last, {{"kept", "0.5"}})) == 2 * 7);
  CHECK(span_ns(after(graph, channels_last, {{"kept", "1"}})) == span_ns(graph));
}

TEST_CASE("channels_last: declines where nothing converts; winograd's names are no layout change") {
  ToyRun run;
  run.kernel({.name = "cudnn::winograd_nonfused::winogradForwardData4x4", .duration_ns = 7});
  const auto declined = apply_to(run.build(), channels_last);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}
