#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& code_ensemble;
extern const WhatIfInfo& fused_optimizer;
extern const WhatIfInfo& int8_matmul;
extern const WhatIfInfo& low_rank;
extern const WhatIfInfo& tt_embedding;
}  // namespace foretrace::what_ifs

using foretrace::Phase;
using foretrace::TaskId;
using foretrace::TensorCategory;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;

namespace {

constexpr std::int64_t mib = 1 << 20;

// `steps` passes over two layers of 1024 x 1024 in 16 bit: 4 MiB of weights.
foretrace::TaskGraph two_layers(std::int64_t recorded_bytes, int steps) {
  ToyRun run;
  run.builder().add_tensor({.bytes = recorded_bytes, .category = TensorCategory::weight});
  for (int step = 0; step < steps; ++step) {
    const TaskId begin = run.mark();
    for (int i = 0; i < 2; ++i) {
      run.kernel({.name = "ampere_fp16_s16816gemm_fp16_128x64_tn",
                  .duration_ns = 900000,
                  .operator_name = "aten::mm",
                  .shapes = "[[8192, 1024], [1024, 1024]]",
                  .step = step});
    }
    run.builder().add_step({.rank = 0, .number = step, .begin = begin, .end = run.mark()});
  }
  return run.build();
}

}  // namespace

TEST_CASE("weight_tensors: int8 halves the weights of one step, the rest stays") {
  const auto a100 = toy_accelerator();
  for (const int steps : {1, 3}) {
    const auto graph = two_layers(6 * mib, steps);
    const auto changed = after(graph, foretrace::what_ifs::int8_matmul, {{"outliers", "0"}}, &a100);
    CHECK(changed.context().tensors[0].bytes == 4 * mib);
  }
}

TEST_CASE("weight_tensors: weights that are read more often than recorded keep their size") {
  const auto a100 = toy_accelerator();
  const auto change = apply_to(two_layers(2 * mib, 1), foretrace::what_ifs::int8_matmul,
                               {{"outliers", "0"}}, &a100);
  REQUIRE(change.ok());
  CHECK(change->tensors.empty());
  CHECK(change->notes.back().find("keep their size") != std::string::npos);
}

TEST_CASE("weight_tensors: two factors of rank 64 take an eighth") {
  const auto a100 = toy_accelerator();
  // 2 x 1024 x 64 instead of 1024 x 1024 numbers; 2 MiB of the 6 are of other layers.
  const auto changed =
      after(two_layers(6 * mib, 1), foretrace::what_ifs::low_rank, {{"ratio", "0.0625"}}, &a100);
  CHECK(changed.context().tensors[0].bytes == 2 * mib + mib / 2);
}

TEST_CASE("weight_tensors: a fused update needs none of the temporaries of single operators") {
  ToyRun run;
  std::vector<TaskId> calls;
  for (int i = 0; i < 60; ++i) {
    const TaskId kernel = run.kernel({.duration_ns = 2000,
                                      .operator_name = i % 2 == 0 ? "aten::sqrt" : "aten::addcdiv_",
                                      .phase = Phase::update});
    calls.push_back(foretrace::make_id<TaskId>(foretrace::index(kernel) - 1));
  }
  const auto add = [&](TensorCategory category) {
    run.builder().add_tensor({.bytes = mib,
                              .category = category,
                              .phase = Phase::update,
                              .allocated_in = calls[0],
                              .freed_in = calls[2]});
  };
  add(TensorCategory::temporary);
  add(TensorCategory::optimizer_state);
  const auto fused = after(run.build(), foretrace::what_ifs::fused_optimizer);
  CHECK(fused.context().tensors[0].bytes == 0);
  CHECK(fused.context().tensors[1].bytes == mib);
}

TEST_CASE("weight_tensors: a table becomes its cores, once for all lookups of a step") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  run.builder().add_tensor({.bytes = 2100000000, .category = TensorCategory::weight});
  run.kernel({.name = "indexSelectLargeIndex",
              .duration_ns = 50000,
              .operator_name = "aten::embedding",
              .shapes = "[[8000000, 64], [1024, 10]]"});
  const auto changed =
      after(run.build(), foretrace::what_ifs::tt_embedding, {{"rank", "32"}}, &a100);
  // 2048 MB of 2100 become 4 x (200 x 4 x 32 x 2 + 32 x 200 x 4 x 32) bytes; blocks of 512.
  const std::int64_t left = 2100000000 - 2048000000 + 4 * (200 * 4 * 32 * 2 + 32 * 200 * 4 * 32);
  CHECK(changed.context().tensors[0].bytes == (left + 511) / 512 * 512);
}

TEST_CASE(
    "weight_tensors: half of the neurons keep a quarter of the weights, half of the results") {
  const auto recorded = [](std::int64_t bytes) {
    ToyRun run;
    run.builder().add_tensor({.bytes = bytes, .category = TensorCategory::weight});
    const TaskId kernel = run.kernel({.name = "ampere_sgemm_128x64_tn",
                                      .duration_ns = 100000,
                                      .operator_name = "aten::mm",
                                      .shapes = "[[256, 1024], [1024, 1024]]"});
    run.builder().add_tensor(
        {.bytes = bytes,
         .category = TensorCategory::activation,
         .operator_name = run.builder().add_name("aten::mm"),
         .allocated_in = foretrace::make_id<TaskId>(foretrace::index(kernel) - 1)});
    run.kernel({.name = "multi_tensor_apply_kernel", .duration_ns = 2000, .phase = Phase::update});
    return run.build();
  };
  const auto half = after(recorded(4 * mib), foretrace::what_ifs::code_ensemble, {{"kept", "0.5"}});
  CHECK(half.context().tensors[0].bytes == mib);
  CHECK(half.context().tensors[1].bytes == 2 * mib);
  // Sizes that are no multiple of a block stay, too.
  const auto whole =
      after(recorded(4 * mib + 7), foretrace::what_ifs::code_ensemble, {{"kept", "1"}});
  CHECK(whole.context().tensors[0].bytes == 4 * mib + 7);
  CHECK(whole.context().tensors[1].bytes == 4 * mib + 7);
}
