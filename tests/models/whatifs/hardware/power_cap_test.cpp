#include "tests/models/text_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& power_cap;
}

using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::text_run;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::power_cap;

namespace {

// Two streams; the second waits for the first by an event, and the host for both.
constexpr const char* two_streams =
    "h:l1(2000) s:gemm1(101800)<l1 h:l2(2000) s2:relu2(51800)<l2<gemm1 h:end(0)~*";

}  // namespace

TEST_CASE("power_cap: arithmetic and start follow the clock, bytes do not") {
  auto a100 = toy_accelerator();
  ToyRun run;
  run.kernel({.name = "ampere_fp16_s16816gemm_fp16_256x128_tn",
              .duration_ns = 5'000'000,
              .operator_name = "aten::mm",
              .shapes = "[[8192, 8192], [8192, 8192]]"});
  run.kernel({.name = "vectorized_elementwise_kernel<4, float>",
              .duration_ns = 1'000'000,
              .operator_name = "aten::relu",
              .shapes = "[[100000000]]"});
  const auto slow = after(run.build(), power_cap, {{"clock", "0.8"}}, &a100);
  CHECK(duration_of(slow, "ampere_fp16_s16816gemm_fp16_256x128_tn") ==
        doctest::Approx(5e6 / 0.8).epsilon(0.01));
  CHECK(duration_of(slow, "vectorized_elementwise_kernel<4, float>") ==
        doctest::Approx(1e6).epsilon(0.002));
}

TEST_CASE("power_cap: work of another stream that waits for a slower product starts later") {
  const auto a100 = toy_accelerator();
  const auto before = text_run(two_streams);
  const auto slow = after(before, power_cap, {{"clock", "0.5"}}, &a100);
  const auto timeline = foretrace::simulate(slow.graph);
  const auto gemm = foretrace::test::task(slow, "gemm1");
  const auto relu = foretrace::test::task(slow, "relu2");
  CHECK(timeline.start_ns(relu) == timeline.end_ns(gemm));
  CHECK(slow.graph.duration_ns(gemm) > before.graph.duration_ns(gemm));
  CHECK(timeline.end_ns(foretrace::test::task(slow, "end")) == timeline.end_ns(relu));
}

TEST_CASE("power_cap: the recorded clock changes nothing, an unknown device is refused") {
  const auto a100 = toy_accelerator();
  const auto same = apply_to(text_run(two_streams).graph, power_cap, {{"clock", "1"}}, &a100);
  REQUIRE_MESSAGE(same.ok(), same.error().message);
  CHECK(same->empty());
  CHECK_FALSE(apply_to(text_run(two_streams).graph, power_cap, {{"clock", "0.8"}}).ok());
}
