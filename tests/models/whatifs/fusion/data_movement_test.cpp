#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& data_movement;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::ToyKernel;
using foretrace::test::ToyRun;
using foretrace::what_ifs::data_movement;

namespace {

// Reads and writes one million numbers: 100 us of bytes after 1.8 us of ramp-up.
constexpr ToyKernel gelu = {.name = "vectorized_elementwise_kernel<4, float>",
                            .duration_ns = 101800,
                            .operator_name = "aten::gelu",
                            .shapes = "[[1000000]]",
                            .segment_ns = 10000};

}  // namespace

TEST_CASE("data_movement: a chain moves its input and output, and the note counts the bytes") {
  ToyRun run;
  for (int i = 0; i < 3; ++i) run.kernel(gelu);
  const auto graph = run.build();
  CHECK(duration_of(after(graph, data_movement), "fused chain") == 101800);
  const auto change = apply_to(graph, data_movement);
  REQUIRE(change.ok());
  // 3 x 2 passes of 4 MB become 2.
  CHECK(change->notes[0].find("24 MB -> 8 MB (-66.7 %)") != std::string::npos);
}

TEST_CASE("data_movement: training still writes a share of what backward needs") {
  ToyRun run;
  run.kernel(gelu);
  run.kernel(gelu);
  run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 10, .phase = Phase::backward});
  const auto graph = run.build();
  // One boundary: a read of 50 us is saved, and half of a write.
  CHECK(duration_of(after(graph, data_movement), "fused chain") == 1800 + 200000 - 75000);
  CHECK(duration_of(after(graph, data_movement, {{"kept_writes", "1"}}), "fused chain") ==
        1800 + 200000 - 50000);
}

TEST_CASE("data_movement: a tenth of the host time between the launches stays") {
  ToyRun run;
  run.kernel(gelu);
  run.kernel(gelu);
  const auto graph = run.build();
  CHECK(span_ns(after(graph, data_movement, {{"kept_host", "1"}})) -
            span_ns(after(graph, data_movement, {{"kept_host", "0"}})) ==
        10000);
}

TEST_CASE("data_movement: products alone are declined") {
  ToyRun run;
  run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 10});
  run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 10});
  const auto declined = apply_to(run.build(), data_movement);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}
