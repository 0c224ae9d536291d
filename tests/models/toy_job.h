// A toy job of two ranks for tests of what-ifs: each computes, meets the other in an all-reduce on
// a stream of its own, and computes on. Times in ns.
#pragma once

#include <array>
#include <cstdint>

#include "tests/models/toy_run.h"

namespace foretrace::test {

struct ToyJobTimes {
  std::array<std::int64_t, 2> before{};   ///< kernel before the all-reduce, per rank
  std::array<std::int64_t, 2> silence{};  ///< host time before its launch, per rank
  std::int64_t transfer = 0;              ///< of the all-reduce
  std::int64_t after = 0;                 ///< kernel that waits for it
  std::int64_t bytes = -1;                ///< of the all-reduce
  std::uint32_t size = 2;                 ///< ranks of the whole job
};

/// Launch calls take no time. The span is max over ranks (silence + before) + transfer + after.
inline TaskGraph toy_job(const ToyJobTimes& times) {
  GraphBuilder builder;
  builder.add_communicator({"world", times.size, {0, 1}});
  const LaneId channel =
      builder.add_lane({.kind = LaneKind::channel, .rank = -1, .number = 0, .name = "world"});
  const auto work = [&](const char* name, TaskKind kind, TaskPart part = TaskPart::whole) {
    Work row;
    row.name = builder.add_name(name);
    row.kind = kind;
    row.part = part;
    if (kind == TaskKind::collective || kind == TaskKind::transfer) {
      row.collective = CollectiveKind::all_reduce;
      row.communicator = 0;
      row.bytes = times.bytes;
    }
    return builder.add_work(row);
  };
  struct Lanes {
    LaneId host{};
    LaneId compute{};
    LaneId network{};
  };
  std::array<Lanes, 2> lanes;
  std::array<TaskId, 2> arrivals{};
  const auto launch = [&](LaneId host, std::int64_t silence) {
    return builder.add_task({.lane = host,
                             .work = work("cudaLaunchKernel", TaskKind::launch),
                             .kind = TaskKind::launch,
                             .segment_ns = silence});
  };
  const auto device = [&](LaneId lane, WorkId row, TaskId call, std::int64_t duration) {
    const TaskId task = builder.add_task(
        {.lane = lane, .work = row, .kind = TaskKind::kernel, .duration_ns = duration});
    builder.add_dependency({.source = end_of(call), .task = task, .kind = DependencyKind::launch});
    return task;
  };
  for (std::int32_t r = 0; r < 2; ++r) {
    Lanes& own = lanes[static_cast<std::size_t>(r)];
    builder.add_rank_class({.first_rank = r, .multiplicity = 1});
    own.host =
        builder.add_lane({.kind = LaneKind::host_thread, .rank = r, .number = 1, .name = {}});
    own.compute = builder.add_lane(
        {.kind = LaneKind::stream, .rank = r, .device = r, .number = 7, .name = {}});
    own.network = builder.add_lane(
        {.kind = LaneKind::stream, .rank = r, .device = r, .number = 20, .name = {}});
    const auto i = static_cast<std::size_t>(r);
    const TaskId first = launch(own.host, times.silence[i]);
    const TaskId made =
        device(own.compute, work("vectorized_elementwise_kernel<4, float>", TaskKind::kernel),
               first, times.before[i]);
    if (times.silence[i] > 0) {
      builder.add_stall({first, times.silence[i], times.silence[i]});
    }
    const TaskId call = launch(own.host, 0);
    arrivals[i] = builder.add_task(
        {.lane = own.network,
         .work = work("ncclDevKernel_AllReduce", TaskKind::collective, TaskPart::begin),
         .kind = TaskKind::collective});
    builder.add_dependency(
        {.source = end_of(call), .task = arrivals[i], .kind = DependencyKind::launch});
    builder.add_dependency(
        {.source = end_of(made), .task = arrivals[i], .kind = DependencyKind::event_wait});
  }
  const TaskId join = builder.add_task({.lane = channel,
                                        .work = work("all_reduce", TaskKind::transfer),
                                        .kind = TaskKind::transfer});
  for (const TaskId arrival : arrivals) {
    builder.add_dependency(
        {.source = end_of(arrival), .task = join, .kind = DependencyKind::rendezvous});
  }
  for (const Lanes& own : lanes) {
    const TaskId finish = builder.add_task(
        {.lane = own.network,
         .work = work("ncclDevKernel_AllReduce", TaskKind::collective, TaskPart::finish),
         .kind = TaskKind::collective,
         .duration_ns = times.transfer});
    builder.add_dependency(
        {.source = end_of(join), .task = finish, .kind = DependencyKind::rendezvous});
    const TaskId call = launch(own.host, 0);
    const TaskId use =
        device(own.compute, work("vectorized_elementwise_kernel<4, float>", TaskKind::kernel), call,
               times.after);
    builder.add_dependency(
        {.source = end_of(finish), .task = use, .kind = DependencyKind::event_wait});
  }
  auto graph = std::move(builder).build();
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  return *std::move(graph);
}

}  // namespace foretrace::test
