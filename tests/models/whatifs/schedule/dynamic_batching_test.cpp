#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& dynamic_batching;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::duration_of;
using foretrace::test::span_ns;
using foretrace::test::toy_accelerator;
using foretrace::test::ToyRun;
using foretrace::what_ifs::dynamic_batching;

namespace {

foretrace::TaskGraph trees(int samples) {
  ToyRun run;
  for (int i = 0; i < samples; ++i) {
    run.kernel({.name = "ampere_sgemm_32x32_tn",
                .duration_ns = 6000,
                .operator_name = "aten::mm",
                .shapes = "[[1, 512], [512, 512]]",
                .launch_ns = 5000});
    run.kernel({.name = "elementwise_kernel", .duration_ns = 2800, .launch_ns = 5000});
  }
  run.mark();
  return run.build();
}

}  // namespace

TEST_CASE("dynamic_batching: equal kernels of eight samples are launched once") {
  const auto a100 = toy_accelerator();
  const auto graph = trees(8);
  const auto batched = after(graph, dynamic_batching, {{"samples", "8"}, {"gather", "0"}}, &a100);
  CHECK(count_of(batched, "batched kernel") == 2);
  CHECK(batched.size() == 2 * 2 + 1);
  // The weight is read once: a product of 8 rows takes hardly longer than one of a single row.
  CHECK(duration_of(batched, "batched kernel") < 7000);
  CHECK(span_ns(batched) < span_ns(graph) / 3);
  // Pointwise: one ramp-up of 1.8 us and 8 x 1 us of bytes.
  const auto without = after(graph, dynamic_batching, {{"samples", "8"}, {"gather", "0.5"}});
  std::vector<std::int64_t> times;
  for (std::size_t t = 0; t < without.size(); ++t) {
    const auto task = foretrace::make_id<foretrace::TaskId>(t);
    if (without.name(task) == "batched kernel") times.push_back(without.duration_ns(task));
  }
  REQUIRE(times.size() == 2);
  CHECK(times[1] == 1800 + 12000);
}

TEST_CASE("dynamic_batching: one sample changes nothing, other counts are declined") {
  const auto graph = trees(8);
  CHECK(span_ns(after(graph, dynamic_batching, {{"samples", "1"}})) == span_ns(graph));
  const auto declined = apply_to(graph, dynamic_batching, {{"samples", "3"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}

TEST_CASE("dynamic_batching: the layers of a stack are no samples") {
  for (const bool knows_layers : {true, false}) {
    CAPTURE(knows_layers);
    ToyRun run;
    const auto side = run.add_stream(9);
    const auto embedded = run.kernel({.name = "indexSelectLargeIndex", .duration_ns = 3000});
    run.bystander(side, embedded, 1000);
    for (int i = 0; i < 4; ++i) {
      const auto layer = knows_layers ? run.builder().add_layer("Bert/layer" + std::to_string(i))
                                      : foretrace::LayerId{};
      const auto product = run.kernel({.name = "ampere_sgemm_32x32_tn",
                                       .duration_ns = 6000,
                                       .operator_name = "aten::mm",
                                       .shapes = "[[1, 512], [512, 512]]",
                                       .layer = layer});
      run.kernel({.name = "elementwise_kernel", .duration_ns = 2800, .layer = layer});
      run.bystander(side, product, 500);
    }
    const auto declined = apply_to(run.build(), dynamic_batching, {{"samples", "4"}});
    REQUIRE_FALSE(declined.ok());
    CHECK(declined.error().code == ErrorCode::no_match);
  }
}

TEST_CASE("dynamic_batching: declines where the copies cost more than launching once saves") {
  ToyRun run;
  const auto side = run.add_stream(9);
  for (int i = 0; i < 4; ++i) {
    const auto kernel = run.kernel({.name = "elementwise_kernel", .duration_ns = 900000});
    run.kernel({.name = "vectorized_layer_norm_kernel", .duration_ns = 900000});
    run.bystander(side, kernel, 500);
  }
  const auto declined = apply_to(run.build(), dynamic_batching, {{"samples", "4"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().message.find("take longer than the samples one by one") !=
        std::string::npos);
}
