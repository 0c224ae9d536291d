#include "tests/models/toy_job.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& communication_scale;
}

using foretrace::ErrorCode;
using foretrace::TaskKind;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::span_ns;
using foretrace::test::toy_job;
using foretrace::test::ToyRun;
using foretrace::what_ifs::communication_scale;

TEST_CASE("communication_scale: transfers scale, waiting for the late rank does not") {
  // Rank 1 arrives after 90, rank 0 after 10: 90 + 40 + 5.
  const auto graph = toy_job({.before = {10, 90}, .transfer = 40, .after = 5});
  CHECK(span_ns(graph) == 135);
  CHECK(span_ns(after(graph, communication_scale, {{"factor", "0.5"}})) == 90 + 20 + 5);
  CHECK(span_ns(after(graph, communication_scale, {{"factor", "0"}})) == 90 + 5);
  CHECK(span_ns(after(graph, communication_scale, {{"factor", "1"}})) == 135);
}

TEST_CASE("communication_scale: of a kernel without its peers a share of waiting can stay") {
  ToyRun run;
  run.kernel({.name = "ncclKernel_AllReduce", .duration_ns = 100, .kind = TaskKind::collective});
  const auto graph = run.build();
  CHECK(span_ns(after(graph, communication_scale, {{"factor", "0.5"}})) == 50);
  // 60 % waiting stays, 40 % halves.
  CHECK(span_ns(after(graph, communication_scale, {{"factor", "0.5"}, {"waiting", "0.6"}})) == 80);
}

TEST_CASE("communication_scale: declines without collectives, and where none is selected") {
  ToyRun run;
  run.kernel({.name = "gemm", .duration_ns = 100});
  const auto none = apply_to(run.build(), communication_scale, {{"factor", "0.5"}});
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().code == ErrorCode::no_match);
  const auto graph = toy_job({.before = {10, 90}, .transfer = 40, .after = 5});
  CHECK_FALSE(
      apply_to(graph, communication_scale, {{"factor", "0.5"}, {"select", "name~AllGather"}}).ok());
}
