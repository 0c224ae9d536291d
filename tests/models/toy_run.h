// Small runs for tests of what-ifs: a host thread that launches kernels on a stream.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "models/whatifs/what_if.h"
#include "sim/engine/pull/pull.h"
#include "sim/graph/change.h"
#include "sim/graph/graph_builder.h"
#include "tests/configs.h"

namespace foretrace::test {

/// What a kernel of a toy run is; times in ns.
struct ToyKernel {
  std::string_view name = "vectorized_elementwise_kernel<4, float>";
  std::int64_t duration_ns = 0;
  std::string_view operator_name = {};
  std::string_view shapes = {};
  Phase phase = Phase::forward;
  std::int64_t launch_ns = 0;   ///< of the call
  std::int64_t segment_ns = 0;  ///< host time before the call
  std::int64_t lag_ns = 0;      ///< from the call to the kernel
  std::int64_t gap_ns = 0;      ///< after the kernel before it
  TaskKind kind = TaskKind::kernel;
  std::int32_t step = -1;
  LayerId layer{};
  CollectiveKind collective = CollectiveKind::none;
  std::uint32_t communicator = no_communicator;
  std::int64_t bytes = -1;
  std::string_view types = {};
};

class ToyRun {
 public:
  ToyRun() {
    host_ = builder_.add_lane({.kind = LaneKind::host_thread, .number = 1, .name = "main"});
    stream_ = builder_.add_lane({.kind = LaneKind::stream, .device = 0, .number = 7, .name = {}});
  }

  /// A launch call and its kernel (or copy).
  TaskId kernel(const ToyKernel& kernel) {
    const TaskId call = host_task("cudaLaunchKernel", TaskKind::launch, kernel.launch_ns,
                                  kernel.segment_ns, kernel.phase, TaskPart::whole, kernel.step);
    return device_task(call, kernel);
  }

  /// cudaStreamSynchronize: begin with its own cost, finish that waits for the stream.
  void synchronize(std::int64_t own_ns = 0) {
    const TaskId begin = host_task("cudaStreamSynchronize", TaskKind::synchronization, own_ns, 0,
                                   Phase::unknown, TaskPart::begin);
    const TaskId finish = host_task("cudaStreamSynchronize", TaskKind::synchronization, 0, 0,
                                    Phase::unknown, TaskPart::finish);
    builder_.add_wait({.task = finish,
                       .at = begin,
                       .lane = stream_,
                       .kind = DependencyKind::synchronization,
                       .late_after = start_of(begin)});
  }

  /// A pageable copy: the call returns when it is done.
  void blocking_copy(std::string_view name, std::int64_t duration_ns, std::int64_t bytes = -1) {
    const TaskId begin =
        host_task("cudaMemcpyAsync", TaskKind::launch, 0, 0, Phase::unknown, TaskPart::begin);
    const TaskId copy = device_task(
        begin, {.name = name, .duration_ns = duration_ns, .kind = TaskKind::copy, .bytes = bytes});
    const TaskId finish = host_task("cudaMemcpyAsync", TaskKind::synchronization, 0, 0,
                                    Phase::unknown, TaskPart::finish);
    builder_.add_dependency(
        {.source = end_of(copy), .task = finish, .kind = DependencyKind::synchronization});
  }

  TaskId mark(std::string_view name = "step begin", std::int64_t segment_ns = 0) {
    return host_task(name, TaskKind::mark, 0, segment_ns, Phase::unknown, TaskPart::whole);
  }

  /// Names a part of the host time before a task.
  void label(TaskId task, std::string_view text, std::int64_t duration_ns) {
    builder_.add_segment_part(
        {.task = task, .label = builder_.add_name(text), .duration_ns = duration_ns});
  }

  TaskId host_task(std::string_view name, TaskKind kind, std::int64_t duration_ns,
                   std::int64_t segment_ns, Phase phase = Phase::unknown,
                   TaskPart part = TaskPart::whole, std::int32_t step = -1) {
    Work work;
    work.name = builder_.add_name(name);
    work.kind = kind;
    work.part = part;
    TaskSpec task;
    task.lane = host_;
    task.work = builder_.add_work(work);
    task.kind = kind;
    task.duration_ns = duration_ns;
    task.segment_ns = segment_ns;
    task.phase = phase;
    task.step = step;
    return builder_.add_task(task);
  }

  /// A stream beside the first one, on the same device.
  LaneId add_stream(std::int64_t number) {
    return builder_.add_lane({.kind = LaneKind::stream, .device = 0, .number = number, .name = {}});
  }
  /// As after cudaStreamWaitEvent: the task starts no earlier than the end of `source`.
  void wait_for(TaskId task, TaskId source) {
    builder_.add_dependency(
        {.source = end_of(source), .task = task, .kind = DependencyKind::event_wait});
  }
  /// A kernel of another stream that waits for this one.
  TaskId bystander(LaneId stream, TaskId source, std::int64_t duration_ns) {
    const LaneId own = std::exchange(stream_, stream);
    const TaskId waiting = kernel({.name = "bystander", .duration_ns = duration_ns});
    stream_ = own;
    wait_for(waiting, source);
    return waiting;
  }

  GraphBuilder& builder() { return builder_; }
  [[nodiscard]] LaneId stream() const { return stream_; }
  void use_stream(LaneId stream) { stream_ = stream; }

  TaskGraph build() {
    auto graph = std::move(builder_).build();
    REQUIRE_MESSAGE(graph.ok(), graph.error().message);
    return *std::move(graph);
  }

 private:
  TaskId device_task(TaskId call, const ToyKernel& kernel) {
    Work work;
    work.name = builder_.add_name(kernel.name);
    work.operator_name = builder_.add_name(kernel.operator_name);
    work.shapes = builder_.add_name(kernel.shapes);
    work.types = builder_.add_name(kernel.types);
    work.kind = kernel.kind;
    work.collective = kernel.collective;
    work.communicator = kernel.communicator;
    work.bytes = kernel.bytes;
    TaskSpec task;
    task.lane = stream_;
    task.work = builder_.add_work(work);
    task.kind = kernel.kind;
    task.duration_ns = kernel.duration_ns;
    task.segment_ns = kernel.gap_ns;
    task.phase = kernel.phase;
    task.step = kernel.step;
    task.layer = kernel.layer;
    const TaskId id = builder_.add_task(task);
    builder_.add_dependency({.source = end_of(call),
                             .task = id,
                             .kind = DependencyKind::launch,
                             .lag_ns = kernel.lag_ns});
    return id;
  }

  GraphBuilder builder_;
  LaneId host_{};
  LaneId stream_{};
};

using Given = std::vector<std::pair<std::string, std::string>>;

inline Accelerator toy_accelerator(const char* name = "a100_sxm_40gb") {
  auto found = test::find_accelerator(name);
  REQUIRE_MESSAGE(found.ok(), found.error().message);
  return *found;
}

inline Result<Change> apply_to(const TaskGraph& graph, const WhatIfInfo& info,
                               const Given& given = {}, const Accelerator* accelerator = nullptr) {
  auto values = ParamValues::parse(info.name, info.params, given);
  REQUIRE_MESSAGE(values.ok(), values.error().message);
  return info.apply({graph, accelerator, *test::shipped()}, *values);
}

/// The graph after the what-if; fails the test if it declines.
inline TaskGraph after(const TaskGraph& graph, const WhatIfInfo& info, const Given& given = {},
                       const Accelerator* accelerator = nullptr) {
  auto change = apply_to(graph, info, given, accelerator);
  REQUIRE_MESSAGE(change.ok(), change.error().message);
  auto committed = commit(graph, *change);
  REQUIRE_MESSAGE(committed.ok(), committed.error().message);
  return std::move(committed->graph);
}

inline std::int64_t span_ns(const TaskGraph& graph) { return simulate(graph).span_ns; }

/// Duration of the first task with this name.
inline std::int64_t duration_of(const TaskGraph& graph, std::string_view name) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (graph.name(make_id<TaskId>(i)) == name) return graph.duration_ns(make_id<TaskId>(i));
  }
  FAIL("no task '", std::string(name), "'");
  return -1;
}

inline std::size_t count_of(const TaskGraph& graph, std::string_view name) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    count += graph.name(make_id<TaskId>(i)) == name ? 1 : 0;
  }
  return count;
}

}  // namespace foretrace::test
