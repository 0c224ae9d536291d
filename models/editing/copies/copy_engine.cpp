// Added copies wait for data by explicit dependencies, as with events between streams.
#include "models/editing/copies/copy_engine.h"

#include <algorithm>

#include "sim/core/whole.h"

namespace foretrace::editing {

namespace {

// A kernel may stand behind what the host does after its launch: devices have an order of their
// own. A call that is added there would come after host tasks that wait for its copy.
bool stands_late(const TaskGraph& graph, TaskId call, TaskId kernel) {
  for (std::size_t t = index(call) + 1; t < index(kernel); ++t) {
    if (is_host(graph.kind(make_id<TaskId>(t)))) return true;
  }
  return false;
}

}  // namespace

std::int64_t CopyEngine::copy_ns(double bytes) const {
  // A transfer takes some microseconds to set up, whatever it moves: as the shortest kernel.
  const double ns = shortest_kernel_ns(KernelClass::copy) + bytes / bandwidth_ * 1e9;
  return to_whole(std::clamp(ns, 0.0, 1e17));
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
    found->second = editor_.edit().add_lane(lane);
  }
  return found->second;
}

TaskId CopyEngine::copy(const Request& request) {
  const TaskGraph& graph = editor_.graph();
  const bool on_host = is_host(graph.kind(request.anchor));
  const TaskId call = on_host ? request.anchor : editor_.own_call(request.anchor);
  if (call == none<TaskId>) return none<TaskId>;
  // Where nothing says which device is meant, it is the first kernel's.
  const bool known = request.after != none<TaskId> && index(request.after) < graph.size() &&
                     is_device(graph.kind(request.after));
  const TaskId stated = request.like != none<TaskId> ? request.like : editor_.kernels().front();
  const TaskId like = !on_host ? request.anchor : known ? request.after : stated;
  if (!usual_) usual_ = usual_launch(graph);
  const bool out = request.direction == Direction::to_host;
  Editor& edit = editor_.edit();
  TaskSpec how;
  how.lane = graph.lane_id(call);
  how.work = edit.add_work("cudaMemcpyAsync (added)", TaskKind::launch);
  how.kind = TaskKind::launch;
  how.duration_ns = usual_->call_ns;
  how.phase = graph.phase(call);
  how.layer = graph.layer(request.anchor);
  how.step = graph.step(call);
  how.provenance = Provenance::assumed;
  TaskSpec device = how;
  device.lane = lane(request.direction, like);
  device.work = edit.add_work(out ? "offload to host" : "prefetch to device", TaskKind::copy);
  device.kind = TaskKind::copy;
  device.duration_ns = copy_ns(request.bytes);
  const bool late = !on_host && stands_late(graph, call, request.anchor);
  const TaskId anchor = request.place == Place::before || late ? call : request.anchor;
  const Launched put =
      edit.insert(Editor::NewPair{how, device, usual_->latency_ns}, anchor, request.place);
  editor_.remember(put);
  const TaskId copy = put.device;
  if (request.after != none<TaskId>) wait(copy, request.after);
  bytes_[static_cast<std::size_t>(request.direction)] += request.bytes;
  return copy;
}

void CopyEngine::wait(TaskId task, TaskId copy) {
  editor_.edit().depend(task, copy, DependencyKind::data);
}

}  // namespace foretrace::editing
