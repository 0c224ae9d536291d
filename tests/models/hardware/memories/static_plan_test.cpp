#include "models/hardware/memories/static_plan.h"

#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "sim/engine/pull/pull.h"
#include "sim/graph/graph_builder.h"

namespace foretrace {
namespace {

/// Tensors of one stream that each operation i uses from `from` to before `to`.
PlanItem item(std::int64_t bytes, std::uint32_t from, std::uint32_t to) {
  return {.bytes = bytes,
          .from = from,
          .to = to,
          .stream = 0,
          .needed_until = to,
          .done_before = {from}};
}

TEST_CASE("static plan: tensors that follow each other share their place") {
  const std::vector<PlanItem> items = {item(1024, 0, 2), item(512, 1, 3), item(1024, 2, 4)};
  const auto plan = plan_statically(items);
  REQUIRE(plan.ok());
  CHECK(plan->ideal_bytes == 1536);  // at any time one of 1024 and the one of 512
  CHECK(plan->bytes == 1536);
  CHECK(plan->no_reuse_bytes == 2560);
  CHECK(plan->offset[0] == plan->offset[2]);
  CHECK(check_plan(items, *plan).ok());
}

TEST_CASE("static plan: nothing is reused before another stream is known to be done with it") {
  // Both items follow each other on the host; the second one is used on stream 1.
  PlanItem first{
      .bytes = 512, .from = 0, .to = 1, .stream = 0, .needed_until = 3, .done_before = {0, 0}};
  PlanItem second{
      .bytes = 512, .from = 1, .to = 2, .stream = 1, .needed_until = 1, .done_before = {2, 0}};
  const std::vector<PlanItem> unsafe = {first, second};
  CHECK(plan_statically(unsafe)->bytes == 1024);
  second.done_before = {3, 0};  // it waited for the third operation of stream 0
  const std::vector<PlanItem> safe = {first, second};
  CHECK(plan_statically(safe)->bytes == 512);
}

TEST_CASE("static plan: the checker refuses what a careless planner would do") {
  const std::vector<PlanItem> items = {item(512, 0, 2), item(512, 1, 3)};
  StaticPlan plan;
  plan.offset = {0, 0};
  plan.bytes = 512;
  CHECK(check_plan(items, plan).error().message ==
        "static plan: tensors 0 and 1 share bytes and may be in use at the same time");
  plan.offset = {0, 512};
  CHECK(!check_plan(items, plan).ok());  // beyond its end
  plan.bytes = 1024;
  CHECK(check_plan(items, plan).ok());
  plan.offset.pop_back();
  CHECK(!check_plan(items, plan).ok());
}

TEST_CASE("static plan: random programs stay between the bounds and pass the check") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<PlanItem> items;
    for (std::uint32_t i = 0; i < 200; ++i) {
      const auto from = static_cast<std::uint32_t>(random() % 1000);
      const auto uses = 1 + static_cast<std::uint32_t>(random() % 60);
      const auto bytes = static_cast<std::int64_t>(random() % 100'000) + 1;
      items.push_back(item(bytes, from, from + uses));
    }
    const auto plan = plan_statically(items);
    REQUIRE(plan.ok());
    CHECK(check_plan(items, *plan).ok());
    CHECK(plan->bytes >= plan->ideal_bytes);
    CHECK(plan->bytes <= plan->no_reuse_bytes);
    CHECK(static_cast<double>(plan->bytes) <= 1.15 * static_cast<double>(plan->ideal_bytes));
  }
}

TEST_CASE("static plan: order comes from waits of the graph, not from its times") {
  // host: launch k0 on stream a, launch k1 on stream b; k1 waits for k0's event or does not.
  for (const bool waits : {false, true}) {
    GraphBuilder builder;
    const LaneId host = builder.add_lane({.kind = LaneKind::host_thread, .name = ""});
    const LaneId a = builder.add_lane({.kind = LaneKind::stream, .device = 0, .name = ""});
    const LaneId b = builder.add_lane({.kind = LaneKind::stream, .device = 0, .name = ""});
    const WorkId work = builder.add_work({.kind = TaskKind::launch});
    const auto launch = [&](LaneId stream) {
      const TaskId call = builder.add_task(
          {.lane = host, .work = work, .kind = TaskKind::launch, .duration_ns = 5});
      const TaskId kernel = builder.add_task(
          {.lane = stream, .work = work, .kind = TaskKind::kernel, .duration_ns = 10});
      builder.add_dependency(
          {.source = end_of(call), .task = kernel, .kind = DependencyKind::launch});
      return std::pair{call, kernel};
    };
    const auto [call_a, kernel_a] = launch(a);
    const auto [call_b, kernel_b] = launch(b);
    const TaskId last =
        builder.add_task({.lane = host, .work = work, .kind = TaskKind::mark, .segment_ns = 1000});
    if (waits) {
      builder.add_dependency(
          {.source = end_of(kernel_a), .task = kernel_b, .kind = DependencyKind::event_wait});
    }
    // The host frees the first tensor before it allocates the second one.
    builder.add_tensor({.bytes = 512, .stream = a, .allocated_in = call_a, .freed_in = call_b});
    builder.add_tensor({.bytes = 512, .stream = b, .allocated_in = call_b, .freed_in = last});
    auto built = std::move(builder).build();
    REQUIRE(built.ok());
    const auto curves = track_memory(*built, simulate(*built));
    REQUIRE(curves.size() == 1);
    const auto items = plan_items(*built, curves[0]);
    REQUIRE(items.size() == 2);
    CHECK(may_follow(items[0], items[1]) == waits);
    CHECK(plan_statically(items)->bytes == (waits ? 512 : 1024));
  }
}

}  // namespace
}  // namespace foretrace
