#include "models/editing/transfers/gradient_transfers.h"

#include <doctest/doctest.h>

#include "tests/models/training_job.h"

using foretrace::CollectiveKind;
using foretrace::Precision;
using foretrace::editing::find_gradient_transfers;
using foretrace::editing::summed_precision;
using foretrace::test::training_job;

TEST_CASE("gradient_transfers: small reduce-scatters go with large ones of their group") {
  const std::vector<foretrace::test::TrainingJob::Reduce> small = {
      {8'000, 10'000, 4, CollectiveKind::reduce_scatter}, {8'000, 10'000, 5}};
  auto with_large = small;
  with_large.push_back({4'000'000, 1'000'000, 6, CollectiveKind::reduce_scatter});
  for (const bool met : {true, false}) {
    CAPTURE(met);
    CHECK(find_gradient_transfers(training_job({.reduces = small, .met = met})).empty());
    const auto graph = training_job({.reduces = with_large, .met = met});
    const auto found = find_gradient_transfers(graph);
    REQUIRE(found.size() == 4);
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(graph.work(found[i].task).collective == CollectiveKind::reduce_scatter);
      CHECK(graph.work(found[i].task).bytes == (i < 2 ? 8'000 : 4'000'000));
      CHECK(found[i].met == met);
    }
  }
}

TEST_CASE("gradient_transfers: what is summed is told by precision, else by name") {
  foretrace::test::ToyRun run;
  for (const char* name :
       {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclKernel_AllReduce_RING_LL_Sum_float",
        "ncclKernel_AllReduce_RING_LL_Sum_half", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
        "ncclKernel_AllReduce_TREE_LL_Sum___nv_bfloat16", "ncclKernel_AllReduce_RING_LL"}) {
    run.kernel({.name = name, .kind = foretrace::TaskKind::collective});
  }
  const auto graph = run.build();
  std::vector<Precision> found;
  for (std::size_t t = 1; t < graph.size(); t += 2) {
    found.push_back(summed_precision(graph, foretrace::make_id<foretrace::TaskId>(t)));
  }
  CHECK(found == std::vector{Precision::fp32, Precision::fp32, Precision::fp16, Precision::bf16,
                             Precision::bf16, Precision::unknown});
  const auto job = training_job(
      {.reduces = {
           {.bytes = 4'000'000, .ns = 1'000'000, .after = 6, .precision = Precision::fp16}}});
  for (const auto& transfer : find_gradient_transfers(job)) {
    CHECK(summed_precision(job, transfer.task) == Precision::fp16);
  }
}
