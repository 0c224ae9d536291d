#include "tests/models/text_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& host_upgrade;
}

using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::text_run;
using foretrace::test::to_text;
using foretrace::what_ifs::host_upgrade;

TEST_CASE(
    "host_upgrade: calls, host time and hand-overs are divided, device work and waits follow") {
  // The second thread begins 4 us after the first launch; a kernel of another stream waits.
  const auto run = text_run(
      "h:l1(2000,6000) s:gemm1(3000)<l1+1500 h:l2(2000,6000) s:gemm2(3000)<l2+1500 "
      "t:l3(2000)<l2+4000 s2:relu3(1000)<l3+1500<gemm2 h:end(0)~*");
  const auto fast = after(run, host_upgrade, {{"speed", "2"}});
  CHECK(to_text(fast) ==
        "h:l1(1000,3000) s:gemm1(3000)<l1+1500 h:l2(1000,3000) s:gemm2(3000)<l2+1500 "
        "t:l3(1000)<l2+2000 s2:relu3(1000)<l3+1500<gemm2 h:end(0)~gemm2~relu3");
  // Launches end at 4 and 8 us; gemm2 starts at 9.5 us, relu3 behind it and behind l3 at 11 us.
  CHECK(foretrace::test::span_ns(fast.graph) == 13500);
}

TEST_CASE("host_upgrade: calls stay if only the interpreter gets faster") {
  const auto run = text_run("h:l1(2000,6000) s:gemm1(3000)<l1+1500 h:end(0)~*");
  CHECK(to_text(after(run, host_upgrade, {{"speed", "3"}, {"calls", "false"}})) ==
        "h:l1(2000,2000) s:gemm1(3000)<l1+1500 h:end(0)~gemm1");
}

TEST_CASE("host_upgrade: a host that does nothing cannot do it faster") {
  const auto run = text_run("h:l1(0) s:gemm1(3000)<l1 h:end(0)~*");
  CHECK_FALSE(apply_to(run.graph, host_upgrade, {{"speed", "2"}}).ok());
}
