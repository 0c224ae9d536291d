#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& code_ensemble;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::code_ensemble;

namespace {

foretrace::TaskGraph member() {
  ToyRun run;
  run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 4200 + 100000});
  run.kernel({.name = "elementwise_kernel", .duration_ns = 1800 + 10000});
  run.kernel(
      {.name = "multi_tensor_apply_kernel", .duration_ns = 1800 + 8000, .phase = Phase::update});
  return run.build();
}

}  // namespace

TEST_CASE("code_ensemble: half of the neurons, a quarter of products and weights") {
  const auto half = after(member(), code_ensemble, {{"kept", "0.5"}});
  CHECK(duration_of(half, "ampere_sgemm_128x64_tn") == 4200 + 25000);
  CHECK(duration_of(half, "elementwise_kernel") == 1800 + 5000);
  CHECK(duration_of(half, "multi_tensor_apply_kernel") == 1800 + 2000);
}

TEST_CASE("code_ensemble: all neurons change nothing, an empty selection is declined") {
  CHECK(span_ns(after(member(), code_ensemble, {{"kept", "1"}})) == span_ns(member()));
  const auto declined =
      apply_to(member(), code_ensemble, {{"kept", "0.5"}, {"select", "name=absent"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}

TEST_CASE("code_ensemble: inference is declined, a run of unknown phases is not") {
  const auto run_of = [](Phase phase) {
    ToyRun run;
    run.kernel({.name = "ampere_sgemm_128x64_tn", .duration_ns = 100'000, .phase = phase});
    return run.build();
  };
  const auto declined = apply_to(run_of(Phase::forward), code_ensemble, {{"kept", "0.5"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
  CHECK(declined.error().message.find("no backward pass") != std::string::npos);
  CHECK(apply_to(run_of(Phase::unknown), code_ensemble, {{"kept", "0.5"}}).ok());
  CHECK(apply_to(run_of(Phase::backward), code_ensemble, {{"kept", "0.5"}}).ok());
}
