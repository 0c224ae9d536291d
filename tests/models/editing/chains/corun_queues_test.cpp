#include "models/editing/chains/corun_queues.h"

#include <array>

#include <doctest/doctest.h>

using foretrace::editing::Bottleneck;
using foretrace::editing::CorunModel;
using foretrace::editing::EndedKernel;
using foretrace::editing::FusedPair;
using foretrace::editing::QueuedKernel;
using foretrace::editing::run_beside;

namespace {

void check(const EndedKernel& end, bool second, std::size_t index, std::int64_t ns, bool beside) {
  CHECK(end.second == second);
  CHECK(end.index == index);
  CHECK(end.ns == ns);
  CHECK(end.beside == beside);
}

}  // namespace

TEST_CASE("corun queues: a pair takes the longer and the conflicting part of the shorter") {
  const std::array a = {QueuedKernel{Bottleneck::bytes, 10}};
  const std::array b = {QueuedKernel{Bottleneck::bytes, 20}};
  const auto ended = run_beside(CorunModel(), a, b, 0.5);
  REQUIRE(ended.size() == 2);
  check(ended[0], false, 0, 15, true);  // 10 x 1.5
  check(ended[1], true, 0, 10, true);   // the rest alone: 25 = 20 + 0.5 x 10
}

TEST_CASE("corun queues: a long kernel goes on beside the next one") {
  const std::array a = {QueuedKernel{Bottleneck::bytes, 10}, QueuedKernel{Bottleneck::bytes, 5}};
  const std::array b = {QueuedKernel{Bottleneck::bytes, 20}};
  const auto ended = run_beside(CorunModel(), a, b, 0.2);
  REQUIRE(ended.size() == 3);
  check(ended[0], false, 0, 12, true);
  check(ended[1], false, 1, 6, true);
  check(ended[2], true, 0, 5, true);
}

TEST_CASE("corun queues: each pair has the conflict of its bottlenecks") {
  const std::array pairs = {FusedPair{Bottleneck::arithmetic, Bottleneck::bytes, 10, 10, 15},
                            FusedPair{Bottleneck::bytes, Bottleneck::bytes, 10, 10, 18}};
  const std::array a = {QueuedKernel{Bottleneck::arithmetic, 10},
                        QueuedKernel{Bottleneck::bytes, 10}};
  const std::array b = {QueuedKernel{Bottleneck::bytes, 20}};
  const auto ended = run_beside(CorunModel(pairs), a, b, -1);
  REQUIRE(ended.size() == 3);
  check(ended[0], false, 0, 15, true);
  check(ended[1], false, 1, 18, true);
  check(ended[2], true, 0, 0, true);  // both end at once
}

TEST_CASE("corun queues: a conflict above 1 is taking turns, one queue alone is as it was") {
  const std::array a = {QueuedKernel{Bottleneck::arithmetic, 10}};
  const std::array b = {QueuedKernel{Bottleneck::arithmetic, 30}};
  const auto turns = run_beside(CorunModel(), a, b, 1.73);
  REQUIRE(turns.size() == 2);
  CHECK(turns[0].ns + turns[1].ns == 40);
  const auto alone = run_beside(CorunModel(), {}, b, 0.5);
  REQUIRE(alone.size() == 1);
  check(alone[0], true, 0, 30, false);
  CHECK(run_beside(CorunModel(), {}, {}, 0.5).empty());
}
