#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& remove_synchronization;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::remove_synchronization;

TEST_CASE("remove_synchronization: the host runs ahead instead of waiting") {
  ToyRun run;
  for (int i = 0; i < 3; ++i) {
    run.kernel({.duration_ns = 100, .launch_ns = 10, .segment_ns = 40});
    run.synchronize(3);
  }
  const auto graph = run.build();
  // Each round: 50 ns on the host, 100 on the device, one after the other.
  CHECK(span_ns(graph) == 3 * 150);
  // Without the waits: the first launch, then three kernels back to back.
  CHECK(span_ns(after(graph, remove_synchronization)) == 50 + 300);
}

TEST_CASE("remove_synchronization: host time before the call stays with the thread") {
  ToyRun run;
  run.kernel({.duration_ns = 1, .launch_ns = 10, .segment_ns = 40});
  run.synchronize(3);
  run.kernel({.duration_ns = 1, .launch_ns = 10, .segment_ns = 40});
  const auto graph = run.build();
  CHECK(span_ns(after(graph, remove_synchronization)) == 40 + 10 + 40 + 10 + 1);
}

TEST_CASE("remove_synchronization: a wait that reads a copy stays unless asked for") {
  ToyRun run;
  run.kernel({.duration_ns = 100});
  run.blocking_copy("Memcpy DtoH (Device -> Pageable)", 5);
  run.synchronize();
  const auto graph = run.build();
  const auto kept = apply_to(graph, remove_synchronization);
  REQUIRE_FALSE(kept.ok());
  CHECK(kept.error().code == ErrorCode::no_match);
  CHECK(
      kept.error().message ==
      "all 1 selected *Synchronize calls read the result of a copy (keep_reads=false removes them "
      "too)");
  CHECK(apply_to(graph, remove_synchronization, {{"keep_reads", "false"}}).ok());
}

TEST_CASE("remove_synchronization: blocking copies are not synchronizing calls") {
  ToyRun run;
  run.kernel({.duration_ns = 100});
  run.blocking_copy("Memcpy HtoD (Pageable -> Device)", 5);
  const auto declined = apply_to(run.build(), remove_synchronization);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().message == "no *Synchronize call is selected");
}

TEST_CASE("remove_synchronization: with keep_reads=false the copy that was read does not block") {
  foretrace::test::ToyRun run;
  const auto side = run.add_stream(9);
  const auto kernel = run.kernel({.name = "gemm", .duration_ns = 50'000});
  run.bystander(side, kernel, 100);
  run.blocking_copy("Memcpy DtoH (Device -> Pageable)", 10'000);
  run.synchronize(1'000);
  run.mark("end", 70'000);
  const auto graph = run.build();
  CHECK(foretrace::test::span_ns(graph) >= 130'000);
  const auto free = foretrace::test::after(graph, foretrace::what_ifs::remove_synchronization,
                                           {{"keep_reads", "false"}});
  CHECK(foretrace::test::span_ns(free) == 70'000);
}
