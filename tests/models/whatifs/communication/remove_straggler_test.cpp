#include "tests/models/toy_job.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& remove_straggler;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::span_ns;
using foretrace::test::toy_job;
using foretrace::test::ToyRun;
using foretrace::what_ifs::remove_straggler;

namespace {

constexpr std::int64_t ms = 1'000'000;

// Rank 1 is silent for 50 ms; both compute for 10 ms, transfer for 5 ms, compute for 7 ms.
foretrace::TaskGraph late_rank() {
  return toy_job(
      {.before = {10 * ms, 10 * ms}, .silence = {0, 50 * ms}, .transfer = 5 * ms, .after = 7 * ms});
}

}  // namespace

TEST_CASE("remove_straggler: the other rank no longer waits for the stalled one") {
  CHECK(span_ns(late_rank()) == (50 + 10 + 5 + 7) * ms);
  CHECK(span_ns(after(late_rank(), remove_straggler)) == (10 + 5 + 7) * ms);
}

TEST_CASE("remove_straggler: a stall can be made shorter or longer instead") {
  CHECK(span_ns(after(late_rank(), remove_straggler, {{"to", "20 ms"}})) == (20 + 10 + 5 + 7) * ms);
  CHECK(span_ns(after(late_rank(), remove_straggler, {{"to", "80 ms"}})) == (80 + 10 + 5 + 7) * ms);
  CHECK(span_ns(after(late_rank(), remove_straggler, {{"to", "50 ms"}})) == span_ns(late_rank()));
}

TEST_CASE("remove_straggler: declines without a stall, of other ranks, below the threshold") {
  ToyRun run;
  run.kernel({.name = "gemm", .duration_ns = 100, .segment_ns = 50 * ms});
  const auto alone = apply_to(run.build(), remove_straggler);
  REQUIRE_FALSE(alone.ok());
  CHECK(alone.error().code == ErrorCode::no_match);
  CHECK_FALSE(apply_to(late_rank(), remove_straggler, {{"rank", "0"}}).ok());
  CHECK(apply_to(late_rank(), remove_straggler, {{"rank", "1"}}).ok());
  CHECK_FALSE(apply_to(late_rank(), remove_straggler, {{"at_least", "51 ms"}}).ok());
}
