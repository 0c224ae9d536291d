#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& hypergraph_fusion;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::ToyKernel;
using foretrace::test::ToyRun;
using foretrace::what_ifs::hypergraph_fusion;

namespace {

// 1000 vertices in 500 hyperedges, 64 features each.
constexpr ToyKernel to_edges = {.name = "cusparse::csrmm_kernel",
                                .duration_ns = 50900,
                                .operator_name = "aten::_sparse_mm",
                                .shapes = "[[500, 1000], [1000, 64]]"};
constexpr ToyKernel to_vertices = {.name = "cusparse::csrmm_kernel",
                                   .duration_ns = 50900,
                                   .operator_name = "aten::_sparse_mm",
                                   .shapes = "[[1000, 500], [500, 64]]"};

}  // namespace

TEST_CASE("hypergraph_fusion: as many hyperedges as vertices, half of the bytes") {
  ToyRun run;
  const auto side = run.add_stream(9);
  run.kernel(to_edges);
  const auto last = run.kernel(to_vertices);
  run.bystander(side, last, 100);
  const auto fused = after(run.build(), hypergraph_fusion, {{"edges", "1"}, {"imbalance", "1"}});
  // 1.8 us of ramp-up once and half of 100 us.
  CHECK(duration_of(fused, "fused message passing") == 1800 + 50000);
  CHECK(count_of(fused, "cusparse::csrmm_kernel") == 0);
}

TEST_CASE("hypergraph_fusion: a third sparse product waits for a partner") {
  ToyRun run;
  for (const ToyKernel& spmm : {to_edges, to_vertices, to_edges}) run.kernel(spmm);
  const auto fused = after(run.build(), hypergraph_fusion);
  CHECK(count_of(fused, "fused message passing") == 1);
  CHECK(count_of(fused, "cusparse::csrmm_kernel") == 1);
}

TEST_CASE("hypergraph_fusion: something in between is declined") {
  ToyRun run;
  run.kernel(to_edges);
  run.kernel({.name = "elementwise_kernel", .duration_ns = 10});
  run.kernel(to_vertices);
  const auto declined = apply_to(run.build(), hypergraph_fusion);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}

TEST_CASE("hypergraph_fusion: two kernels of one product, or of unknown sizes, are no layer") {
  for (const char* shapes : {"[[500, 1000], [1000, 64]]", ""}) {
    CAPTURE(std::string(shapes));
    ToyRun run;
    for (int i = 0; i < 2; ++i) {
      run.kernel({.name = "cusparse::csrmm_kernel",
                  .duration_ns = 50900,
                  .operator_name = "aten::_sparse_mm",
                  .shapes = shapes});
    }
    const auto declined = apply_to(run.build(), hypergraph_fusion);
    REQUIRE_FALSE(declined.ok());
    CHECK(declined.error().message.find("do not show") != std::string::npos);
  }
}
