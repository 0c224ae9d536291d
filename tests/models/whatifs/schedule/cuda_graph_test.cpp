#include "tests/models/toy_run.h"

namespace foretrace::what_ifs {
extern const WhatIfInfo& cuda_graph;
}

using foretrace::ErrorCode;
using foretrace::test::after;
using foretrace::test::apply_to;
using foretrace::test::count_of;
using foretrace::test::Given;
using foretrace::test::span_ns;
using foretrace::test::ToyRun;
using foretrace::what_ifs::cuda_graph;

namespace {

const Given free_launch = {
    {"launch_base", "0 ns"}, {"node_cost", "0 ns"}, {"start_latency", "0 ns"}};

void launches(ToyRun& run, int count, std::int64_t kernel_ns, std::int64_t segment_ns) {
  for (int i = 0; i < count; ++i) {
    run.kernel(
        {.duration_ns = kernel_ns, .launch_ns = 5000, .segment_ns = segment_ns, .gap_ns = 1200});
  }
}

}  // namespace

TEST_CASE("cuda_graph: a host-bound run becomes device-bound") {
  ToyRun run;
  launches(run, 100, 2000, 20000);
  const auto graph = run.build();
  REQUIRE(span_ns(graph) == 100 * 25000 + 2000);
  // The first segment stays, then 100 kernels with 1 us between them.
  CHECK(span_ns(after(graph, cuda_graph, free_launch)) == 20000 + 100 * 2000 + 99 * 1000);
}

TEST_CASE("cuda_graph: the launch costs its base and its nodes, the device starts before it ends") {
  ToyRun run;
  launches(run, 100, 2000, 0);
  run.mark();
  const auto graph = run.build();
  const auto captured = after(graph, cuda_graph);
  // Host: 3 + 100 x 0.2 us. Device: 10 us after the begin of the call, then 100 x 2 us and 99
  // gaps.
  CHECK(span_ns(captured) == 10000 + 100 * 2000 + 99 * 1000);
  CHECK(count_of(captured, "graph launch") == 1);
  CHECK(count_of(captured, "cudaLaunchKernel") == 0);
}

TEST_CASE("cuda_graph: synchronizations, blocking copies, marks and long host time cut regions") {
  const auto regions = [](auto between) {
    ToyRun run;
    launches(run, 10, 100, 10);
    between(run);
    launches(run, 10, 100, 10);
    return count_of(after(run.build(), cuda_graph), "graph launch");
  };
  CHECK(regions([](ToyRun&) {}) == 1);
  CHECK(regions([](ToyRun& run) { run.synchronize(); }) == 2);
  CHECK(regions([](ToyRun& run) { run.blocking_copy("Memcpy HtoD (Pageable -> Device)", 5); }) ==
        2);
  CHECK(regions([](ToyRun& run) { run.mark(); }) == 2);
  CHECK(regions([](ToyRun& run) { launches(run, 1, 100, 2000000); }) == 2);
}

TEST_CASE("cuda_graph: gaps on the stream shrink, shorter ones stay") {
  ToyRun run;
  for (int i = 0; i < 10; ++i) run.kernel({.duration_ns = 100, .gap_ns = i % 2 == 0 ? 500 : 9000});
  const auto graph = run.build();
  // Five gaps of 0.5 us and five of 9 us, which become 1 us.
  CHECK(span_ns(after(graph, cuda_graph, free_launch)) == 10 * 100 + 5 * 500 + 5 * 1000);
}

TEST_CASE("cuda_graph: a gap longer than max_segment is no cost of launches and stays") {
  ToyRun run;
  for (int i = 0; i < 10; ++i) {
    run.kernel({.duration_ns = 100, .gap_ns = i == 4 ? 463'000'000 : 9'000});
  }
  const auto graph = run.build();
  CHECK(span_ns(after(graph, cuda_graph, free_launch)) == 10 * 100 + 9 * 1'000 + 463'000'000);
}

TEST_CASE("cuda_graph: kernels on another stream keep their order through the graph") {
  ToyRun run;
  const auto second = run.builder().add_lane(
      {.kind = foretrace::LaneKind::stream, .device = 0, .number = 8, .name = {}});
  const auto first_kernel = run.kernel({.duration_ns = 1000, .launch_ns = 10});
  run.use_stream(second);
  const auto later = run.kernel({.duration_ns = 500, .launch_ns = 10});
  run.builder().add_dependency({.source = foretrace::end_of(first_kernel),
                                .task = later,
                                .kind = foretrace::DependencyKind::event_wait});
  launches(run, 8, 10, 0);
  const auto graph = run.build();
  const auto captured = after(graph, cuda_graph, free_launch);
  CHECK(span_ns(captured) == 1000 + 500 + 8 * (1000 + 10));
}

TEST_CASE("cuda_graph: short runs and selections without launches are declined") {
  ToyRun run;
  launches(run, 7, 100, 10);
  const auto graph = run.build();
  const auto declined = apply_to(graph, cuda_graph);
  REQUIRE_FALSE(declined.ok());
  CHECK(declined.error().code == ErrorCode::no_match);
  CHECK(apply_to(graph, cuda_graph, {{"min_launches", "7"}}).ok());
  CHECK_FALSE(
      apply_to(graph, cuda_graph, {{"min_launches", "7"}, {"select", "phase=update"}}).ok());
}

TEST_CASE("cuda_graph: tensors of graphs share a pool that stays as large as they need at most") {
  using foretrace::TaskId;
  ToyRun run;
  std::vector<TaskId> calls;
  for (int i = 0; i < 30; ++i) {
    if (i == 10 || i == 20) run.synchronize();
    const TaskId kernel = run.kernel({.duration_ns = 1000, .launch_ns = 5000});
    calls.push_back(foretrace::make_id<TaskId>(foretrace::index(kernel) - 1));
  }
  const auto keep = [&](std::int64_t bytes, TaskId from, TaskId to) {
    run.builder().add_tensor({.bytes = bytes,
                              .category = foretrace::TensorCategory::activation,
                              .allocated_in = from,
                              .freed_in = to});
  };
  keep(1024, calls[1], calls[5]);
  keep(2048, calls[4], calls[15]);   // both: 3072 bytes, in two graphs
  keep(2560, calls[16], calls[25]);  // alone: no more
  keep(4096, foretrace::none<TaskId>, foretrace::none<TaskId>);
  const auto graph = run.build();
  const auto captured = after(graph, cuda_graph);
  REQUIRE(count_of(captured, "graph launch") == 3);
  std::int64_t throughout = 0;
  for (const foretrace::Tensor& tensor : captured.context().tensors) {
    if (tensor.bytes == 0) continue;
    CHECK(tensor.allocated_in == foretrace::none<TaskId>);
    CHECK(tensor.freed_in == foretrace::none<TaskId>);
    throughout += tensor.bytes;
  }
  CHECK(throughout == 4096 + 3072);
}
