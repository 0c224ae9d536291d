#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& compiled_region;
}

using namespace foretrace;
using test::after;
using test::apply_to;
using test::count_of;
using test::duration_of;
using test::Given;
using test::span_ns;
using test::toy_accelerator;
using test::ToyRun;
using what_ifs::compiled_region;

namespace {

constexpr const char* product = "linear_fp16_s16816gemm_fp16_256x128_tn";
constexpr const char* relu = "vectorized_elementwise_kernel<relu>";

LayerId layer(ToyRun& run, const char* name) { return run.builder().add_layer(name); }

// A product and two pointwise kernels per block of the encoder, then a head of two pointwise
// kernels. Calls of 5 us with 20 us before each; another stream waits for the second block.
TaskGraph model(bool synchronizes = false) {
  ToyRun run;
  const auto side = run.add_stream(9);
  const LayerId encoder = layer(run, "Model/encoder");
  const LayerId head = layer(run, "Model/head");
  const auto kernel = [&](const char* name, LayerId of) {
    return run.kernel({.name = name,
                       .duration_ns = 1'000,
                       .launch_ns = 5'000,
                       .segment_ns = 20'000,
                       .layer = of});
  };
  for (int block = 0; block < 2; ++block) {
    kernel(product, encoder);
    kernel(relu, encoder);
    if (synchronizes) run.synchronize();
    const TaskId last = kernel(relu, encoder);
    if (block == 1) run.bystander(side, last, 500);
  }
  kernel(relu, head);
  kernel(relu, head);
  run.synchronize();
  return run.build();
}

Given given(const char* mode, const char* guard = "0 us", const char* breaks = "0") {
  return {{"module", "encoder"}, {"mode", mode}, {"guard", guard}, {"breaks", breaks}};
}

}  // namespace

TEST_CASE("compiled_region: chains of the module fuse, those of other modules stay") {
  const TaskGraph graph = model();
  const auto fused = after(graph, compiled_region, given("default"));
  CHECK(count_of(fused, "compiled kernel of 2") == 2);
  CHECK(count_of(fused, relu) == 2);
  CHECK(count_of(fused, product) == 2);
  // Eight calls of 25 us without two, of whose host time a fifth stays; guards come once.
  CHECK(span_ns(graph) - span_ns(fused) == doctest::Approx(2 * 5'000 + 2 * 16'000).epsilon(0.1));
  const auto guarded = after(graph, compiled_region, given("default", "40 us"));
  CHECK(span_ns(guarded) - span_ns(fused) == 40'000);
}

TEST_CASE("compiled_region: graphs replace the calls of a region, and graph breaks come on top") {
  const TaskGraph graph = model();
  const auto captured = after(graph, compiled_region, given("reduce-overhead"));
  const auto fused = after(graph, compiled_region, given("default"));
  // Four launches are nodes of 1.5 us; the first call is 10 us longer and keeps what came before.
  CHECK(span_ns(captured) < span_ns(fused) - 60'000);
  const auto broken = after(graph, compiled_region, given("reduce-overhead", "40 us", "1"));
  // Two graphs: guards twice, a second launch and the 20 us of host time before it.
  CHECK(span_ns(broken) > span_ns(captured) + 80'000);
  // A kernel of another stream still starts after what it waits for.
  CHECK(count_of(broken, "bystander") == 1);
}

TEST_CASE("compiled_region: a synchronization breaks the graph, and nothing fuses across it") {
  const TaskGraph graph = model(true);
  const auto changed = after(graph, compiled_region, given("reduce-overhead"));
  CHECK(count_of(changed, "compiled kernel of 2") == 0);
  CHECK(count_of(changed, relu) == 6);
}

TEST_CASE("compiled_region: a first use stays as it is, with the call that took it") {
  ToyRun run;
  const LayerId encoder = layer(run, "Model/encoder");
  for (int i = 0; i < 6; ++i) {
    run.kernel({.name = product,
                .duration_ns = 1'000,
                .launch_ns = i == 2 ? 50'000'000 : 5'000,
                .segment_ns = 20'000,
                .layer = encoder});
  }
  run.synchronize();
  const TaskGraph graph = run.build();
  const auto captured = after(graph, compiled_region, given("reduce-overhead"));
  CHECK(span_ns(captured) > 50'000'000);
  CHECK(span_ns(captured) < span_ns(graph));
}

TEST_CASE("compiled_region: a long gap on the stream breaks the graph and stays") {
  ToyRun run;
  const LayerId encoder = layer(run, "Model/encoder");
  for (int i = 0; i < 6; ++i) {
    run.kernel({.name = relu,
                .duration_ns = 1'000,
                .launch_ns = 5'000,
                .segment_ns = 20'000,
                .gap_ns = i == 3 ? 50'000'000 : 0,
                .layer = encoder});
  }
  run.synchronize();
  const TaskGraph graph = run.build();
  const auto captured = after(graph, compiled_region, given("reduce-overhead"));
  CHECK(count_of(captured, "compiled kernel of 3") == 1);
  CHECK(count_of(captured, "compiled kernel of 2") == 1);
  CHECK(span_ns(captured) > 50'000'000);
  CHECK(span_ns(captured) < span_ns(graph));
}

TEST_CASE("compiled_region: sets and copies on the device break no graph, blocking copies do") {
  const auto graphs = [](bool blocks) {
    ToyRun run;
    const LayerId encoder = layer(run, "Model/encoder");
    const auto side = run.add_stream(9);
    for (int i = 0; i < 4; ++i) {
      const TaskId last = run.kernel({.name = product,
                                      .duration_ns = 1'000,
                                      .launch_ns = 5'000,
                                      .segment_ns = 20'000,
                                      .layer = encoder});
      if (i == 3) run.bystander(side, last, 500);  // of no module: it ends the run
      if (blocks) {
        run.blocking_copy("Memcpy DtoH (Device -> Pageable)", 1'000, 64);
      } else {
        run.kernel({.name = "Memset (Device)", .duration_ns = 500, .kind = TaskKind::set});
      }
    }
    run.synchronize();
    const auto change = apply_to(run.build(), compiled_region, given("reduce-overhead"));
    REQUIRE(change.ok());
    return change->notes[0];
  };
  CAPTURE(graphs(false));
  CHECK(graphs(false).find("in 1 graph") != std::string::npos);
  CAPTURE(graphs(true));
  CHECK(graphs(true).find("4 graphs") != std::string::npos);
}

TEST_CASE("compiled_region: pointwise kernels go into the product before them where sizes tell") {
  const auto a100 = toy_accelerator();
  ToyRun run;
  const auto side = run.add_stream(9);
  const LayerId encoder = layer(run, "Model/encoder");
  run.kernel({.name = product,
              .duration_ns = 500'000,
              .operator_name = "aten::mm",
              .shapes = "[[8192, 4096], [4096, 4096]]",
              .layer = encoder});
  const auto last = run.kernel({.name = relu,
                                .duration_ns = 100'000,
                                .operator_name = "aten::relu",
                                .shapes = "[[8192, 4096]]",
                                .layer = encoder});
  run.bystander(side, last, 5'000);
  run.synchronize();
  const TaskGraph graph = run.build();
  const auto changed = after(graph, compiled_region, given("max-autotune"), &a100);
  CHECK(count_of(changed, relu) == 0);
  CHECK(duration_of(changed, product) < 550'000);
  // What waited for the activation waits for the product.
  CHECK(span_ns(changed) >= duration_of(changed, product) + 5'000);
}

TEST_CASE("compiled_region: a module that is not there is declined") {
  const auto declined = apply_to(model(), compiled_region, {{"module", "decoder"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}
