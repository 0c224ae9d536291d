#include "models/editing/tensors/exchanged_gradients.h"

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
