#include <map>

#include "tests/models/pipelined_step.h"
#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& layer_freezing;
}

using foretrace::ErrorCode;
using foretrace::Phase;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::layer_freezing;

namespace {

foretrace::TaskGraph one_step(std::string_view update) {
  ToyRun run;
  for (int i = 0; i < 4; ++i) run.kernel({.name = "forward", .duration_ns = 10});
  for (int i = 0; i < 4; ++i) {
    run.kernel({.name = "backward", .duration_ns = 20, .phase = Phase::backward});
  }
  for (int i = 0; i < 4; ++i) {
    run.kernel({.name = update, .duration_ns = 2800, .phase = Phase::update});
  }
  run.synchronize();
  return run.build();
}

}  // namespace

TEST_CASE("layer_freezing: the end of the backward pass and a share of the update go") {
  const auto graph = one_step("vectorized_elementwise_kernel");
  const auto half = after(graph, layer_freezing, {{"share", "0.5"}});
  CHECK(count_of(half, "forward") == 4);
  CHECK(count_of(half, "backward") == 2);
  CHECK(count_of(half, "vectorized_elementwise_kernel") == 2);
  CHECK(span_ns(graph) - span_ns(half) == 2 * 20 + 2 * 2800);
}

TEST_CASE("layer_freezing: multi-tensor updates get shorter, but for their ramp-up") {
  const auto graph = one_step("multi_tensor_apply_kernel");
  const auto quarter = after(graph, layer_freezing, {{"share", "0"}, {"parameters", "0.25"}});
  CHECK(count_of(quarter, "backward") == 4);
  // 1.8 us of ramp-up stay of each; of the 1 us that moves bytes a quarter goes.
  CHECK(span_ns(graph) - span_ns(quarter) == 4 * 250);
}

TEST_CASE("layer_freezing: a share of nothing changes nothing, inference is declined") {
  const auto graph = one_step("multi_tensor_apply_kernel");
  CHECK(span_ns(after(graph, layer_freezing, {{"share", "0"}})) == span_ns(graph));
  ToyRun run;
  run.kernel({.name = "forward", .duration_ns = 10});
  const auto declined = apply_to(run.build(), layer_freezing, {{"share", "0.5"}});
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
}

TEST_CASE("layer_freezing: gradients and states of frozen parameters are not there") {
  ToyRun run;
  run.kernel({.name = "forward", .duration_ns = 10});
  run.kernel({.name = "backward", .duration_ns = 20, .phase = Phase::backward});
  run.kernel({.name = "multi_tensor_apply_kernel", .duration_ns = 2800, .phase = Phase::update});
  using foretrace::TensorCategory;
  for (const auto category :
       {TensorCategory::weight, TensorCategory::gradient, TensorCategory::optimizer_state}) {
    run.builder().add_tensor({.bytes = 1 << 20, .category = category});
  }
  run.synchronize();
  const auto change =
      apply_to(run.build(), layer_freezing, {{"share", "0"}, {"parameters", "0.25"}});
  REQUIRE_MESSAGE(change.ok(), change.error().message);
  REQUIRE(change->tensors.size() == 2);  // weights stay
  CHECK(change->tensors[0].bytes == 768 << 10);
  CHECK(change->tensors[1].bytes == 768 << 10);
}

TEST_CASE("layer_freezing: kernels that one graph launches go as those with calls of their own") {
  ToyRun run;
  const auto side = run.add_stream(9);
  auto& builder = run.builder();
  const auto call = run.host_task("cudaGraphLaunch", foretrace::TaskKind::launch, 2, 0);
  foretrace::TaskId last{};
  const auto launched = [&](std::string_view name, std::int64_t ns, Phase phase) {
    foretrace::Work work;
    work.name = builder.add_name(name);
    work.kind = foretrace::TaskKind::kernel;
    last = builder.add_task({.lane = run.stream(),
                             .work = builder.add_work(work),
                             .kind = foretrace::TaskKind::kernel,
                             .duration_ns = ns,
                             .phase = phase});
    builder.add_dependency({.source = foretrace::end_of(call),
                            .task = last,
                            .kind = foretrace::DependencyKind::launch});
  };
  for (int i = 0; i < 4; ++i) launched("forward", 10, Phase::forward);
  for (int i = 0; i < 4; ++i) launched("backward", 20, Phase::backward);
  run.bystander(side, last, 7);
  run.synchronize();
  const auto graph = run.build();
  const auto half = after(graph, layer_freezing, {{"share", "0.5"}, {"parameters", "0"}});
  CHECK(count_of(half, "forward") == 4);
  CHECK(count_of(half, "backward") == 2);
  CHECK(span_ns(graph) - span_ns(half) == 2 * 20);
}

TEST_CASE("layer_freezing: of copies of a pipeline the first stages exchange fewer gradients") {
  for (const int stages : {2, 4}) {
    CAPTURE(stages);
    const auto graph = foretrace::test::pipelined_step("1f1b", stages, 8, 2);
    const auto exchanged = [](const foretrace::TaskGraph& of) {
      std::map<std::int32_t, std::int64_t> ns;
      for (std::size_t t = 0; t < of.size(); ++t) {
        const auto task = foretrace::make_id<foretrace::TaskId>(t);
        const auto kind = of.work(task).collective;
        const bool sums = kind == foretrace::CollectiveKind::all_reduce ||
                          kind == foretrace::CollectiveKind::reduce_scatter;
        if (sums && of.work(task).bytes > 65536) ns[of.lane(task).rank] += of.duration_ns(task);
      }
      return ns;
    };
    auto before = exchanged(graph);
    CHECK(before.size() == static_cast<std::size_t>(stages));
    auto now = exchanged(after(graph, layer_freezing, {{"share", "0.4"}}));
    CHECK(now.begin()->second < before.begin()->second);
    CHECK(now.rbegin()->second == before.rbegin()->second);
  }
}

TEST_CASE("layer_freezing: of a pipeline the first layers of the model are frozen") {
  for (const int stages : {2, 4}) {
    CAPTURE(stages);
    const auto graph = foretrace::test::pipelined_step("1f1b", stages, 8);
    const auto kernels_of = [](const foretrace::TaskGraph& of, Phase phase) {
      std::map<std::int32_t, int> counts;
      for (std::size_t t = 0; t < of.size(); ++t) {
        const auto task = foretrace::make_id<foretrace::TaskId>(t);
        const bool counts_too =
            of.kind(task) == foretrace::TaskKind::kernel && of.phase(task) == phase;
        if (counts_too) ++counts[of.lane(task).rank];
      }
      return counts;
    };
    const auto half = after(graph, layer_freezing, {{"share", "0.4"}});
    auto before = kernels_of(graph, Phase::backward);
    auto now = kernels_of(half, Phase::backward);
    CHECK(now[0] < before[0]);
    for (int stage = 1; stage < stages; ++stage) CHECK(now[stage - 1] <= now[stage]);
    CHECK(now[stages - 1] == before[stages - 1]);
    // The stage that still trains all of its layers bounds the step.
    CHECK(span_ns(half) <= span_ns(graph));
    CHECK(10 * span_ns(half) > 8 * span_ns(graph));
    auto updates = kernels_of(half, Phase::update);
    CHECK(updates[stages - 1] == kernels_of(graph, Phase::update)[stages - 1]);
  }
}
