// Added copies wait for data by explicit dependencies, as with events between streams.
#include "models/editing/copies/copy_engine.h"

#include <algorithm>
#include <cmath>

namespace foretrace::detail {

std::int64_t CopyEngine::copy_ns(double bytes) const {
  // A transfer takes some microseconds to set up, whatever it moves: as the shortest kernel.
  const double ns = shortest_kernel_ns(KernelClass::copy) + bytes / bandwidth_ * 1e9;
  return std::llround(std::clamp(ns, 0.0, 1e17));
}

LaneId CopyEngine::lane(Direction direction, TaskId like) {
  const Lane& at = editor_.graph().lane(like);
  const auto [found, is_new] = lanes_.try_emplace({direction, {at.rank, at.device}}, none<LaneId>);
  if (is_new) {
    const bool out = direction == Direction::to_host;
    Lane lane;
    lane.kind = LaneKind::stream;
    lane.rank = at.rank;
    lane.device = at.device;
    lane.number = out ? 9001 : 9002;
    lane.name = out ? "offload to host" : "prefetch to device";
    found->second = editor_.builder().add_lane(lane);
  }
  return found->second;
}

TaskId CopyEngine::copy(const Request& request) {
  const TaskGraph& graph = editor_.graph();
  const bool on_host = is_host(graph.kind(request.anchor));
  const TaskId call = on_host ? request.anchor : editor_.own_call(request.anchor);
  if (call == none<TaskId>) return none<TaskId>;
  // Where neither the anchor nor what it waits for is on a device, the first kernel's is meant.
  const bool known = request.after != none<TaskId> && index(request.after) < graph.size() &&
                     is_device(graph.kind(request.after));
  const TaskId like = !on_host ? request.anchor : known ? request.after : editor_.kernels().front();
  if (launch_ns_ < 0) {
    launch_ns_ = editor_.view().median_launch_ns();
    lag_ns_ = editor_.view().median_launch_lag_ns();
  }
  const bool out = request.direction == Direction::to_host;
  TaskSpec spec;
  spec.lane = graph.lane_id(call);
  spec.work = editor_.builder().work("cudaMemcpyAsync (added)", TaskKind::launch);
  spec.kind = TaskKind::launch;
  spec.duration_ns = launch_ns_;
  spec.phase = graph.phase(call);
  spec.layer = graph.layer(request.anchor);
  spec.step = graph.step(call);
  spec.provenance = Provenance::assumed;
  const TaskId anchor = request.place == Place::before ? call : request.anchor;
  const TaskId launch = editor_.builder().insert(spec, anchor, request.place);
  spec.lane = lane(request.direction, like);
  spec.work =
      editor_.builder().work(out ? "offload to host" : "prefetch to device", TaskKind::copy);
  spec.kind = TaskKind::copy;
  spec.duration_ns = copy_ns(request.bytes);
  const TaskId copy = editor_.builder().insert(spec, launch, Place::after);
  Change& change = editor_.builder().change;
  change.new_dependencies.push_back(
      {.source = end_of(launch), .task = copy, .kind = DependencyKind::launch, .lag_ns = lag_ns_});
  if (request.after != none<TaskId>) wait(copy, request.after);
  bytes_[static_cast<std::size_t>(request.direction)] += request.bytes;
  return copy;
}

void CopyEngine::wait(TaskId task, TaskId copy) {
  editor_.builder().change.new_dependencies.push_back(
      {.source = end_of(copy), .task = task, .kind = DependencyKind::data});
}

}  // namespace foretrace::detail
