#include "models/hardware/costs/kernel_kinds.h"

#include "tests/models/toy_run.h"

using foretrace::costing::kernel_kinds;
using foretrace::test::ToyRun;

TEST_CASE("kernel kinds: kernels are alike only in name, operator, inputs and launch together") {
  ToyRun run;
  const foretrace::test::ToyKernel mm{.name = "ampere_sgemm_128x64_tn",
                                      .duration_ns = 1000,
                                      .operator_name = "aten::mm",
                                      .shapes = "[[64, 32], [32, 16]]"};
  auto slower = mm;
  slower.duration_ns = 3000;
  auto larger = mm;
  larger.shapes = "[[64, 32], [32, 32]]";
  auto typed = mm;
  typed.types = R"(["float", "float"])";
  for (const auto& kernel : {mm, larger, slower, typed}) run.kernel(kernel);
  run.kernel({.name = "nccl", .duration_ns = 5, .kind = foretrace::TaskKind::collective});
  const auto graph = run.build();
  const auto kinds = kernel_kinds(graph, "kind=kernel");
  REQUIRE_MESSAGE(kinds.ok(), kinds.error().message);
  REQUIRE(kinds->size() == 3);
  const auto& first = kinds->front();
  CHECK(first.count == 2);
  CHECK(first.total_ns == 4000);
  CHECK(first.text.operator_name == "aten::mm");
  REQUIRE(first.amount.gemm.has_value());
  CHECK(first.amount.gemm->m == 64);
  CHECK(first.amount.gemm->n == 16);
  REQUIRE(first.tile.has_value());
  CHECK(first.tile->m == 128);
  CHECK(kinds->back().text.types == R"(["float", "float"])");
}

TEST_CASE("kernel kinds: a selection without kernels, and a wrong one, are errors") {
  ToyRun run;
  run.kernel({.duration_ns = 1000});
  const auto graph = run.build();
  const auto none = kernel_kinds(graph, "resource=host");
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().code == foretrace::ErrorCode::no_match);
  CHECK_FALSE(kernel_kinds(graph, "nam=x").ok());
}
