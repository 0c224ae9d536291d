#include "tests/models/toy_job.h"

namespace foretrace::optimizations {
extern const OptimizationInfo replicate;
}

using foretrace::ErrorCode;
using foretrace::optimizations::replicate;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::span_ns;
using foretrace::test::toy_job;
using foretrace::test::ToyRun;

namespace {

constexpr std::int64_t us = 1'000;

foretrace::TaskGraph two_ranks(std::uint32_t size) {
  return toy_job(
      {.before = {100 * us, 100 * us}, .transfer = 506 * us, .after = 50 * us, .size = size});
}

}  // namespace

TEST_CASE("replicate: a ring's bytes grow by (n-1)/n, a tree's latency by its depth") {
  // 2 ranks: 2 steps of 3 us and 500 us for a share of 2 x 1/2. 8 ranks: 2 x 3 steps of 3 us and
  // 500 us x 2 x 7/8 = 875 us.
  CHECK(span_ns(after(two_ranks(2), replicate, {{"ranks", "8"}})) == (100 + 18 + 875 + 50) * us);
}

TEST_CASE("replicate: the whole job counts, not only the recorded ranks") {
  // 8 ranks, 2 of them recorded: 6 steps x 3 us of 506 are latency, 488 us for a share of 14/8; 16
  // ranks: 8 steps, share 30/16: 24 us + 488 us x (30/16) / (14/8) = 522.857 us.
  CHECK(span_ns(after(two_ranks(8), replicate, {{"ranks", "16"}})) ==
        (100 + 50 + 24) * us + 522'857);
  CHECK(span_ns(after(two_ranks(8), replicate, {{"ranks", "8"}})) == span_ns(two_ranks(8)));
}

TEST_CASE("replicate: slower links between nodes stretch the bytes only") {
  CHECK(span_ns(after(two_ranks(2), replicate, {{"ranks", "8"}, {"bandwidth_factor", "0.5"}})) ==
        (100 + 18 + 2 * 875 + 50) * us);
}

TEST_CASE("replicate: declines where nothing communicates") {
  ToyRun run;
  run.kernel({.name = "gemm", .duration_ns = 100});
  const auto none = apply_to(run.build(), replicate, {{"ranks", "8"}});
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().code == ErrorCode::no_match);
}
