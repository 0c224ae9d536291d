#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& copy_bandwidth;
}

using foretrace::ErrorCode;
using foretrace::TaskKind;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::copy_bandwidth;

TEST_CASE("copy_bandwidth: copies scale, kernels do not") {
  ToyRun run;
  run.kernel({.name = "Memcpy HtoD", .duration_ns = 100, .kind = TaskKind::copy});
  run.kernel({.name = "gemm", .duration_ns = 60});
  const auto graph = run.build();
  CHECK(span_ns(graph) == 160);
  CHECK(span_ns(after(graph, copy_bandwidth, {{"factor", "0.5"}})) == 50 + 60);
}

TEST_CASE("copy_bandwidth: declines without copies") {
  ToyRun run;
  run.kernel({.name = "gemm", .duration_ns = 60});
  const auto none = apply_to(run.build(), copy_bandwidth, {{"factor", "0.5"}});
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().code == ErrorCode::no_match);
}
