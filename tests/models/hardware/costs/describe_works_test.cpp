// Descriptions are kept by what names and shapes say; all else is looked at anew.
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/hardware/costs/kernel_cost.h"
#include "tests/configs.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace {
namespace {

using test::TextKind;

constexpr TextKind shaped = {"p", "ampere_sgemm_128x64_tn", "aten::mm", "[[64, 32], [32, 16]]"};
constexpr TextKind bare = {"q", "ampere_sgemm_128x64_nn", "aten::mm", ""};

/// Two products, the second one without recorded inputs but with a grid.
TaskGraph products() {
  const TaskGraph graph = test::named_graph("s:p1(1000000) s:q1(2000000)", {shaped, bare}).graph;
  GraphContext context = graph.context();
  for (Work& work : context.works) work.grid = {40, 64, 1};
  return {graph.shared_topology(), graph.shared_columns(),
          std::make_shared<const GraphContext>(std::move(context)), graph.weights()};
}

const KernelDescription& of(const std::vector<KernelDescription>& works, const TaskGraph& graph,
                            std::size_t task) {
  return works[index(graph.work_id(make_id<TaskId>(task)))];
}

TEST_CASE("descriptions: another accelerator, and none, is another answer each time") {
  const TaskGraph graph = products();
  const Accelerator a100 = test::find_accelerator("a100_sxm_40gb").value();
  for (int i = 0; i < 2; ++i) {
    const auto without = describe_works(graph, nullptr);
    CHECK(of(without, graph, 0).amount.flops == 2.0 * 64 * 32 * 16);
    CHECK_FALSE(of(without, graph, 1).amount.known());
    const auto with = describe_works(graph, &a100);
    CHECK(of(with, graph, 0).amount.flops == 2.0 * 64 * 32 * 16);
    CHECK_FALSE(of(with, graph, 0).shape_from_grid);
    CHECK(of(with, graph, 1).shape_from_grid);
  }
}

TEST_CASE("descriptions: other times of the same works give the products another depth") {
  const TaskGraph graph = products();
  const Accelerator a100 = test::find_accelerator("a100_sxm_40gb").value();
  const auto depth = [&](const TaskGraph& one) {
    return of(describe_works(one, &a100), one, 1).amount.gemm.value().k;
  };
  const double before = depth(graph);
  Weights weights = graph.weights();
  weights.duration_ns = std::make_shared<const std::vector<std::int64_t>>(
      std::vector<std::int64_t>{1000000, 8000000});
  CHECK(depth(graph.with_weights(weights)) > 2 * before);
  CHECK(depth(graph) == before);
}

TEST_CASE("descriptions: a work that no task has any more has no amount") {
  const TaskGraph graph = products();
  CHECK(of(describe_works(graph, nullptr), graph, 0).amount.known());
  TaskColumns columns = graph.columns();
  columns.work[0] = columns.work[1];
  const TaskGraph other =
      graph.with_weights(graph.weights(), std::make_shared<const TaskColumns>(std::move(columns)));
  CHECK_FALSE(of(describe_works(other, nullptr), graph, 0).amount.known());
  CHECK(of(describe_works(graph, nullptr), graph, 0).amount.known());
}

TEST_CASE("descriptions: graphs of one shape with other names are told apart, in any order") {
  const TaskGraph first = test::named_graph("s:p1(10)", {shaped}).graph;
  TextKind wider = shaped;
  wider.shapes = "[[128, 32], [32, 16]]";
  const TaskGraph second = test::named_graph("s:p1(10)", {wider}).graph;
  for (const TaskGraph* graph : {&first, &second, &second, &first}) {
    const double rows = graph == &first ? 64 : 128;
    CHECK(of(describe_works(*graph, nullptr), *graph, 0).amount.flops == 2 * rows * 32 * 16);
  }
}

}  // namespace
}  // namespace foretrace
