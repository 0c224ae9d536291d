#include "models/editing/transfers/transfers.h"

#include "tests/models/toy_run.h"

using namespace foretrace;
using editing::find_transfers;
using editing::layer_splitting;
using test::ToyRun;

namespace {

/// Layers of a forward pass, an all-reduce of this size behind each, then a backward pass with one.
TaskGraph passes(int layers, std::int64_t bytes, int times = 1) {
  ToyRun run;
  run.builder().add_communicator({"group", 2, {0}});
  const auto side = run.add_stream(9);
  const auto reduce = [&] {
    run.kernel({.name = "ncclDevKernel_AllReduce",
                .duration_ns = 20'000,
                .kind = TaskKind::collective,
                .collective = CollectiveKind::all_reduce,
                .communicator = 0,
                .bytes = bytes});
  };
  for (int pass = 0; pass < times; ++pass) {
    for (int i = 0; i < layers; ++i) {
      const auto layer = run.kernel({.name = "gemm", .duration_ns = 1'000});
      run.bystander(side, layer, 10);
      reduce();
    }
    run.kernel({.name = "gemm", .duration_ns = 1'000, .phase = Phase::backward});
    reduce();
  }
  return run.build();
}

std::size_t splitting(const TaskGraph& graph) {
  const auto found = find_transfers(graph, "kind=collective");
  REQUIRE(found.ok());
  return layer_splitting(graph, *found).size();
}

}  // namespace

TEST_CASE("transfers: two large all-reduces of a forward pass, or four of one size, split layers") {
  CHECK(splitting(passes(2, 65'536)) == 1);
  CHECK(splitting(passes(1, 65'536)) == 0);
  CHECK(splitting(passes(4, 24'576)) == 1);
  CHECK(splitting(passes(3, 24'576)) == 0);
}

TEST_CASE("transfers: small all-reduces of several passes do not add up to a split layer") {
  // One loss per pass, however many passes there are.
  CHECK(splitting(passes(1, 4, 8)) == 0);
  CHECK(splitting(passes(3, 24'576, 4)) == 0);
}
