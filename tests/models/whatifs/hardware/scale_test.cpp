#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& scale;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::scale;

namespace {

foretrace::TaskGraph two_kernels() {
  ToyRun run;
  run.kernel({.name = "gemm", .duration_ns = 100, .launch_ns = 10, .segment_ns = 20});
  run.kernel({.name = "relu", .duration_ns = 50, .launch_ns = 10, .segment_ns = 20});
  return run.build();
}

}  // namespace

TEST_CASE("scale: halving every kernel of a stream halves the device time") {
  const auto graph = two_kernels();
  CHECK(span_ns(graph) == 20 + 10 + 100 + 50);
  CHECK(span_ns(after(graph, scale, {{"factor", "0.5"}})) == 20 + 10 + 50 + 25);
}

TEST_CASE("scale: a selection by name leaves the rest") {
  CHECK(span_ns(after(two_kernels(), scale, {{"factor", "3"}, {"select", "name~gemm"}})) ==
        30 + 300 + 50);
}

TEST_CASE("scale: host tasks take the time before them along, if wanted") {
  const auto graph = two_kernels();
  // The first launch ends after 30 ns; kernels queue behind it.
  CHECK(span_ns(after(graph, scale, {{"factor", "10"}, {"select", "resource=host"}})) ==
        2 * 300 + 50);
  CHECK(span_ns(after(graph, scale,
                      {{"factor", "0"}, {"select", "resource=host"}, {"segments", "false"}})) ==
        20 + 150);
}

TEST_CASE("scale: a factor of 1 is the identity") {
  const auto graph = two_kernels();
  CHECK(span_ns(after(graph, scale, {{"factor", "1"}, {"select", "rank=0"}})) == span_ns(graph));
}

TEST_CASE("scale: declines if nothing is selected, and says what is wrong with a selection") {
  const auto graph = two_kernels();
  const auto nothing = apply_to(graph, scale, {{"factor", "2"}, {"select", "name=conv"}});
  REQUIRE_FALSE(nothing.ok());
  CHECK(nothing.error().code == ErrorCode::no_match);
  CHECK(nothing.error().message == "no task matches 'name=conv'");
  const auto wrong = apply_to(graph, scale, {{"factor", "2"}, {"select", "nmae=conv"}});
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message.find("did you mean 'name'") != std::string::npos);
}
