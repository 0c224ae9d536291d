#include "models/editing/parameters/exchanged_gradients.h"

#include <doctest/doctest.h>

#include "tests/models/training_job.h"

using foretrace::CollectiveKind;
using foretrace::Precision;
using foretrace::editing::exchanged_gradients;
using foretrace::editing::find_passes;
using foretrace::editing::KernelEditor;
using foretrace::test::shipped;
using foretrace::test::TrainingJob;

namespace {

std::map<foretrace::editing::DeviceOfRank, foretrace::editing::ExchangedGradients> exchanged(
    const TrainingJob& job) {
  const auto graph = foretrace::test::training_job(job);
  const KernelEditor editor({graph, nullptr, *shipped()});
  return exchanged_gradients(graph, find_passes(editor));
}

}  // namespace

TEST_CASE("exchanged_gradients: one pass of an accumulation exchanges for all, on every rank") {
  for (const bool met : {true, false}) {
    CAPTURE(met);
    const auto found = exchanged({.steps = 2,
                                  .reduces = {{4'000'000, 1'000'000, 3},
                                              {8'000'000, 1'000'000, 6},
                                              {4'096, 10'000, 6}},  // a norm
                                  .met = met,
                                  .passes = 3});
    REQUIRE(found.size() == 2);
    for (const auto& [device, sum] : found) {
      CHECK(sum.numbers == 3e6);
      CHECK(sum.held == 3e6);
    }
  }
}

TEST_CASE("exchanged_gradients: of a reduce-scatter a rank keeps its share, of any size") {
  const auto found = exchanged(
      {.ranks = 4,
       .reduces = {{4'000'000, 1'000'000, 3, CollectiveKind::reduce_scatter},
                   {8'000, 10'000, 4, CollectiveKind::reduce_scatter},
                   {2'000'000, 1'000'000, 6, CollectiveKind::all_reduce, Precision::bf16}}});
  REQUIRE(found.size() == 4);
  for (const auto& [device, sum] : found) {
    CHECK(sum.numbers == 1e6 + 2e3 + 1e6);
    CHECK(sum.held == (1e6 + 2e3) / 4 + 1e6);
  }
}

TEST_CASE("exchanged_gradients: without recorded sizes there are none") {
  CHECK(exchanged({.reduces = {{-1, 1'000'000, 6}}}).empty());
  CHECK(exchanged({}).empty());
}

TEST_CASE("exchanged_gradients: shares that copies of the model add up are the same gradients") {
  // Two copies of a model, each divided among two ranks. Beside the shares, copies add up what is
  // not divided; a share is added up once, and never by the group that divided it.
  using Among = TrainingJob::Among;
  constexpr auto scatter = CollectiveKind::reduce_scatter;
  constexpr auto sum = CollectiveKind::all_reduce;
  for (const bool met : {true, false}) {
    CAPTURE(met);
    const auto found =
        exchanged({.ranks = 4,
                   .steps = 2,
                   .reduces = {{4'000'000, 900'000, 2, scatter, Precision::fp32, Among::shards},
                               {8'000'000, 900'000, 3, scatter, Precision::fp32, Among::shards},
                               {2'000'000, 900'000, 3, sum, Precision::fp32, Among::copies},
                               {4'000'000, 900'000, 4, sum, Precision::fp32, Among::copies},
                               {400'000, 100'000, 5, sum, Precision::fp32, Among::copies},
                               {800'000, 100'000, 5, scatter, Precision::bf16, Among::shards},
                               {400'000, 100'000, 6, sum, Precision::bf16, Among::shards},
                               {800'000, 100'000, 6, sum, Precision::fp32, Among::copies},
                               {800'000, 100'000, 6, sum, Precision::fp32, Among::copies}},
                   .shard_ranks = 2,
                   .met = met});
    REQUIRE(found.size() == 4);
    for (const auto& [device, gradients] : found) {
      CHECK(gradients.numbers == 1e6 + 2e6 + 1e5 + 4e5 + 2e5 + 2e5);
      CHECK(gradients.held == 1e6 / 2 + 2e6 / 2 + 1e5 + 4e5 / 2 + 2e5 + 2e5);
      // 800'000 bytes in fp32 are as many numbers as the share of 4e5, once.
    }
  }
}
