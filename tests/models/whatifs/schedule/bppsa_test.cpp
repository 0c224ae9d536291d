#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& bppsa;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::TensorCategory;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::Given;
using foretrace::test::span_ns;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::bppsa;

namespace {

// A recurrent layer of width 64: 8 rows per step. Gradients of inputs follow each other; gradients
// of the weight, whose sums run over the 8 rows, are launched on another stream.
foretrace::TaskGraph chain(int stages, const char* width = "64", bool with_tensors = false) {
  ToyRun run;
  const auto side = run.add_stream(9);
  const auto main = run.stream();
  const std::string w = width;
  const std::string forward = "[[8, " + w + "], [" + w + ", " + w + "]]";
  const std::string weight = "[[" + w + ", 8], [8, " + w + "]]";
  run.kernel({.name = "ampere_sgemm_32x32_tn",
              .duration_ns = 100,
              .operator_name = "aten::mm",
              .shapes = forward});
  for (int i = 0; i < stages; ++i) {
    const auto gradient = run.kernel({.name = "ampere_sgemm_32x32_nn",
                                      .duration_ns = 100,
                                      .operator_name = "aten::mm",
                                      .shapes = forward,
                                      .phase = Phase::backward});
    run.use_stream(side);
    const auto of_weight = run.kernel({.name = "weight gradient sgemm",
                                       .duration_ns = 10,
                                       .operator_name = "aten::mm",
                                       .shapes = weight,
                                       .phase = Phase::backward});
    run.use_stream(main);
    if (i == 0) run.wait_for(of_weight, gradient);
  }
  const auto end = run.mark("end");
  if (with_tensors) {
    run.builder().add_tensor({.bytes = 1024,
                              .category = TensorCategory::weight,
                              .phase = Phase::forward,
                              .allocated_in = foretrace::none<foretrace::TaskId>,
                              .freed_in = end});
  }
  run.synchronize();
  return run.build();
}

const Given equal_costs = {{"select", "phase=backward"}, {"combine", "1"}};

}  // namespace

TEST_CASE("bppsa: with equal costs the time is the number of levels") {
  // 64 stages: 2 x ceil(log2(65)) - 1 = 13 levels; 512: 19.
  for (const auto& [stages, levels] : {std::pair{64, 13}, std::pair{512, 19}}) {
    const auto scan = after(chain(stages), bppsa, equal_costs);
    CHECK(count_of(scan, "level of the scan") == static_cast<std::size_t>(levels));
    CHECK(count_of(scan, "weight gradient sgemm") == static_cast<std::size_t>(stages));
    CHECK(span_ns(scan) <= span_ns(chain(stages)));
  }
}

TEST_CASE("bppsa: few workers take a wide level in rounds, dear products lose") {
  // 7 stages: 4 + 2 + 1 products up, 2 + 4 down: with 2 workers 2 + 1 + 1 + 1 + 2 rounds.
  const auto scan =
      after(chain(7), bppsa, {{"select", "phase=backward"}, {"workers", "2"}, {"combine", "1"}});
  CHECK(span_ns(scan) == 100 + 100 * 7);
  const auto dear = after(chain(64), bppsa, {{"select", "phase=backward"}, {"combine", "10"}});
  CHECK(span_ns(dear) > span_ns(chain(64)));
}

TEST_CASE("bppsa: products of Jacobians cost what their shapes say, and lie in memory") {
  const auto a100 = toy_accelerator();
  const auto narrow = after(chain(64), bppsa, {{"select", "phase=backward"}}, &a100);
  const auto wide = after(chain(64, "1024"), bppsa, {{"select", "phase=backward"}}, &a100);
  CHECK(span_ns(wide) > 20 * span_ns(narrow));
  const auto kept = after(chain(64, "64", true), bppsa, {{"select", "phase=backward"}}, &a100);
  REQUIRE(kept.context().tensors.size() == 2);
  // 64 stages x 8 rows x 64 x 64 numbers of 4 bytes.
  CHECK(kept.context().tensors[1].bytes == 64 * 8 * 64 * 64 * 4);
  const auto unknown = apply_to(chain(64), bppsa, {{"select", "phase=backward"}});
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == ErrorCode::missing_cost);
}

TEST_CASE("bppsa: Jacobians that no device holds are declined") {
  // 64 x 8 x 16384 x 16384 x 4 bytes: 550 GB.
  const auto a100 = toy_accelerator();
  const auto declined = apply_to(chain(64, "16384"), bppsa, {{"select", "phase=backward"}}, &a100);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().message.find("549.8 GB of Jacobians") != std::string::npos);
}

TEST_CASE("bppsa: what is no chain of input gradients is declined") {
  const auto a100 = toy_accelerator();
  CHECK_FALSE(apply_to(chain(3), bppsa, equal_costs).ok());
  // Sixteen products side by side: each has a width of its own.
  ToyRun run;
  for (int i = 1; i <= 16; ++i) {
    const std::string n = std::to_string(64 * i);
    const std::string k = std::to_string(64 * (i % 3 + 1) + 8);
    run.kernel({.name = "ampere_sgemm_32x32_tn",
                .duration_ns = 100,
                .operator_name = "aten::mm",
                .shapes = "[[8, " + k + "], [" + k + ", " + n + "]]"});
    run.kernel({.name = "ampere_sgemm_32x32_nn",
                .duration_ns = 100,
                .operator_name = "aten::mm",
                .shapes = "[[8, " + n + "], [" + n + ", " + k + "]]",
                .phase = Phase::backward});
  }
  const auto declined = apply_to(run.build(), bppsa, equal_costs, &a100);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}
