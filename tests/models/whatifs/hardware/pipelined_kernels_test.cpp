#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& pipelined_kernels;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::pipelined_kernels;

namespace {

foretrace::TaskGraph product(std::string_view name) {
  ToyRun run;
  run.kernel({.name = name,
              .duration_ns = 4200 + 1000000,
              .operator_name = "aten::mm",
              .shapes = "[[4096, 4096], [4096, 4096]]"});
  return run.build();
}

}  // namespace

TEST_CASE("pipelined_kernels: latency that one block cannot hide vanishes behind stages") {
  const auto a100 = toy_accelerator();
  const auto graph = product("volta_sgemm_128x128_nn");
  // A step of 128 x 128 x 32 in fp32 takes 2 x 128 x 128 x 32 / (rate / 108) ns of arithmetic, far
  // more than 600 ns: hidden with four stages, exposed with one stage and one block.
  const auto one = after(graph, pipelined_kernels, {{"blocks", "1"}}, &a100);
  const auto faster = duration_of(one, "volta_sgemm_128x128_nn");
  CHECK(faster < 1004200);
  CHECK(faster > 4200 + 500000);
  const auto slow = after(graph, pipelined_kernels, {{"blocks", "1"}, {"latency", "6 us"}}, &a100);
  CHECK(duration_of(slow, "volta_sgemm_128x128_nn") < faster);
}

TEST_CASE("pipelined_kernels: one stage changes nothing") {
  const auto a100 = toy_accelerator();
  const auto graph = product("volta_sgemm_128x128_nn");
  CHECK(span_ns(after(graph, pipelined_kernels, {{"stages", "1"}}, &a100)) == span_ns(graph));
}

TEST_CASE("pipelined_kernels: kernels with stages in their name and old devices are declined") {
  const auto a100 = toy_accelerator();
  const auto done = apply_to(product("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn"),
                             pipelined_kernels, {}, &a100);
  REQUIRE_FALSE(done.ok());
  CHECK(done.error().code == ErrorCode::no_match);
  ToyRun run;
  run.builder().add_device({.name = "V100", .compute_major = 7, .compute_minor = 0});
  run.kernel({.name = "volta_sgemm_128x128_nn", .duration_ns = 10});
  const auto old = apply_to(run.build(), pipelined_kernels, {}, &a100);
  REQUIRE_FALSE(old.ok());
  CHECK(old.error().code == ErrorCode::unsupported);
}
