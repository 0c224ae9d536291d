#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& sequence_length;
}

using foretrace::ErrorCode;
using foretrace::TaskGraph;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::sequence_length;

namespace {

constexpr const char* linear = "linear_fp16_s16816gemm_fp16_256x128_tn";
constexpr const char* scores = "scores_fp16_s16816gemm_fp16_256x128_tn";
constexpr const char* values = "values_fp16_s16816gemm_fp16_256x128_tn";

// 8 samples of 1024 positions, 16 heads of 64; a kernel of another stream waits for the linear one.
TaskGraph layer(const char* queries = "1024", const char* width = "64") {
  ToyRun run;
  const std::string d(width);
  const auto side = run.add_stream(9);
  const std::string q(queries);
  const auto first = run.kernel({.name = linear,
                                 .duration_ns = 500'000,
                                 .operator_name = "aten::mm",
                                 .shapes = "[[8192, 4096], [4096, 4096]]"});
  run.bystander(side, first, 100);
  run.kernel({.name = scores,
              .duration_ns = 200'000,
              .operator_name = "aten::bmm",
              .shapes = "[[128, " + q + ", " + d + "], [128, " + d + ", 1024]]"});
  run.kernel({.name = "softmax_warp_forward<c10::Half>", .duration_ns = 101'800});
  run.kernel({.name = values,
              .duration_ns = 200'000,
              .operator_name = "aten::bmm",
              .shapes = "[[128, " + q + ", 1024], [128, 1024, " + d + "]]"});
  run.synchronize();
  return run.build();
}

}  // namespace

TEST_CASE("sequence_length: rows double, attention takes four times as long") {
  const auto a100 = toy_accelerator();
  const auto graph = layer();
  const auto longer = after(graph, sequence_length, {{"factor", "2"}}, &a100);
  CHECK(duration_of(longer, linear) == doctest::Approx(1e6).epsilon(0.05));
  CHECK(duration_of(longer, scores) == doctest::Approx(8e5).epsilon(0.05));
  CHECK(duration_of(longer, values) == doctest::Approx(8e5).epsilon(0.05));
  CHECK(duration_of(longer, "softmax_warp_forward<c10::Half>") ==
        doctest::Approx(4e5).epsilon(0.03));
  CHECK(span_ns(longer) > 3 * span_ns(graph) - 500'000);
}

TEST_CASE("sequence_length: decoding and runs without attention are declined") {
  const auto a100 = toy_accelerator();
  for (const TaskGraph& graph : {layer("1"), [] {
                                   ToyRun run;
                                   run.kernel({.name = linear, .duration_ns = 10});
                                   return run.build();
                                 }()}) {
    const auto declined = apply_to(graph, sequence_length, {{"factor", "2"}}, &a100);
    REQUIRE_FALSE(declined.ok());
    CHECK(declined.error().code == ErrorCode::no_match);
  }
}

TEST_CASE("sequence_length: what comes after it sees longer sequences, or what was recorded") {
  const auto a100 = toy_accelerator();
  const auto shapes_of = [&](const TaskGraph& graph, std::string_view name) {
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const auto task = foretrace::make_id<foretrace::TaskId>(i);
      if (graph.name(task) == name) return std::string(graph.names()[graph.work(task).shapes]);
    }
    return std::string();
  };
  const auto longer = after(layer(), sequence_length, {{"factor", "2"}}, &a100);
  CHECK(shapes_of(longer, linear) == "[[16384, 4096], [4096, 4096]]");
  CHECK(shapes_of(longer, scores) == "[[128, 2048, 64], [128, 64, 2048]]");
  CHECK(shapes_of(longer, values) == "[[128, 2048, 2048], [128, 2048, 64]]");
  // Heads as wide as the sequence is long: nothing tells which of both grows.
  const auto wide = after(layer("1024", "1024"), sequence_length, {{"factor", "2"}}, &a100);
  CHECK(shapes_of(wide, scores) == "[[128, 1024, 1024], [128, 1024, 1024]]");
  // In one kernel, [samples, heads, positions, width] or positions before heads.
  ToyRun run;
  const auto side = run.add_stream(9);
  const auto first = run.kernel({.name = linear,
                                 .duration_ns = 500'000,
                                 .operator_name = "aten::mm",
                                 .shapes = "[[8192, 4096], [4096, 4096]]"});
  run.bystander(side, first, 100);
  constexpr const char* fused = "flash_fwd_kernel<Flash_fwd_kernel_traits<64>>";
  constexpr const char* heads = "[[8, 16, 1024, 64], [8, 16, 1024, 64], [8, 16, 1024, 64]]";
  run.kernel({.name = fused,
              .duration_ns = 300'000,
              .operator_name = "aten::_flash_attention_forward",
              .shapes = heads});
  run.synchronize();
  const auto flash = after(run.build(), sequence_length, {{"factor", "2"}}, &a100);
  CHECK(duration_of(flash, fused) > 1'000'000);
  CHECK(shapes_of(flash, fused) == heads);
  CHECK(shapes_of(flash, linear) == "[[16384, 4096], [4096, 4096]]");
}
