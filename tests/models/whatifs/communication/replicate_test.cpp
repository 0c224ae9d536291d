#include "tests/models/toy_job.h"
#include "tests/models/toy_parts.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& replicate;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::span_ns;
using foretrace::test::toy_job;
using foretrace::test::ToyRun;
using foretrace::what_ifs::replicate;

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

namespace {}  // namespace

TEST_CASE("replicate: groups whose ranks hold parts of a layer do not grow") {
  const auto graph = foretrace::test::tensor_parallel(true);
  const auto grown = apply_to(graph, replicate, {{"ranks", "16"}});
  REQUIRE_MESSAGE(grown.ok(), grown.error().message);
  REQUIRE(grown->notes.size() >= 2);
  CHECK(grown->notes[1] == "communicators that split layers keep their ranks: parts");
  // Gradients alone take longer: the largest communicator has 4 ranks, so the job grows fourfold.
  const auto after_growth = after(graph, replicate, {{"ranks", "16"}});
  std::size_t longer = 0;
  for (std::size_t t = 0; t < graph.size(); ++t) {
    const auto task = foretrace::make_id<foretrace::TaskId>(t);
    longer += after_growth.duration_ns(task) > graph.duration_ns(task) ? 1 : 0;
  }
  CHECK(longer == 1);
}

TEST_CASE("replicate: a job of parts of layers alone is declined, by name as well") {
  const auto alone =
      apply_to(foretrace::test::tensor_parallel(false), replicate, {{"ranks", "16"}});
  REQUIRE_FALSE(alone.ok());
  CHECK(alone.error().message.find("no communicator can grow: parts") != std::string::npos);
  const auto named = apply_to(foretrace::test::tensor_parallel(true), replicate,
                              {{"ranks", "16"}, {"communicators", "parts"}});
  REQUIRE_FALSE(named.ok());
  CHECK(named.error().message.find("share layers") != std::string::npos);
  const auto unknown = apply_to(foretrace::test::tensor_parallel(true), replicate,
                                {{"ranks", "16"}, {"communicators", "pipeline"}});
  REQUIRE_FALSE(unknown.ok());
}
