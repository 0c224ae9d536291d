#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& tensordash;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::tensordash;

namespace {

foretrace::TaskGraph products() {
  ToyRun run;
  run.kernel({.name = "forward sgemm", .duration_ns = 4200 + 100000});
  run.kernel({.name = "backward sgemm", .duration_ns = 4200 + 100000, .phase = Phase::backward});
  run.kernel({.name = "elementwise_kernel", .duration_ns = 9000});
  return run.build();
}

}  // namespace

TEST_CASE("tensordash: half of the operands zero, twice as fast beyond the ramp-up") {
  const auto faster =
      after(products(), tensordash, {{"activations", "0.5"}, {"gradients", "0.25"}, {"phi", "1"}});
  CHECK(duration_of(faster, "forward sgemm") == 4200 + 50000);
  CHECK(duration_of(faster, "backward sgemm") == 4200 + 75000);
  CHECK(duration_of(faster, "elementwise_kernel") == 9000);
}

TEST_CASE("tensordash: the buffer's depth caps the gain, no zeros change nothing") {
  const auto capped =
      after(products(), tensordash, {{"activations", "0.99"}, {"gradients", "0"}, {"depth", "4"}});
  CHECK(duration_of(capped, "forward sgemm") == 4200 + 25000);
  const auto same = after(products(), tensordash, {{"activations", "0"}, {"gradients", "0"}});
  CHECK(span_ns(same) == span_ns(products()));
}

TEST_CASE("tensordash: declines without products") {
  ToyRun run;
  run.kernel({.name = "elementwise_kernel", .duration_ns = 10});
  const auto declined =
      apply_to(run.build(), tensordash, {{"activations", "0.5"}, {"gradients", "0.5"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}
