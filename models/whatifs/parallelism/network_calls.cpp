#include "models/whatifs/parallelism/network_calls.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "models/whatifs/parallelism/machine.h"
#include "sim/core/whole.h"
#include "sim/graph/links.h"

namespace foretrace::editing {
namespace {

/// Host time of a collective's call, as a multiple of that of an elementwise operator: c10d calls
/// took 4 to 15 times as long as copies in five recordings (V100, A100, H100, MI300X), median 6.6.
constexpr double collective_calls = 6.6;

}  // namespace

std::int64_t usual_host_ns(const KernelEditor& editor) {
  std::vector<std::int64_t> times;
  for (const TaskId kernel : editor.kernels()) {
    const TaskId call = editor.own_call(kernel);
    if (call == none<TaskId>) continue;
    times.push_back(std::max<std::int64_t>(0, editor.graph().segment_ns(call)));
  }
  if (times.empty()) return 0;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

std::int64_t collective_host_ns(const KernelEditor& editor) {
  return to_whole(static_cast<double>(usual_host_ns(editor)) * collective_calls);
}

NetworkCalls::NetworkCalls(KernelEditor& editor, const Cluster& cluster)
    : editor_(editor),
      graph_(editor.graph()),
      cluster_(cluster),
      usual_(usual_launch(graph_)),
      host_ns_(usual_host_ns(editor)) {
  for (const Lane& lane : graph_.context().lanes) {
    last_number_ = std::max(last_number_, lane.number);
  }
  for (const Lane& lane : editor.edit().change().new_lanes) {
    last_number_ = std::max(last_number_, lane.number);
  }
}

NetworkCalls::Channel NetworkCalls::channel_of(const Lane& compute,
                                               const NetworkTransfer& transfer) {
  const std::string name(transfer.stream);
  const std::tuple key{compute.rank, compute.device, name};
  if (const auto found = channels_.find(key); found != channels_.end()) return found->second;
  Lane lane = compute;
  lane.name = name;
  lane.number = ++last_number_;
  const Channel channel{editor_.edit().add_lane(std::move(lane)),
                        editor_.edit().add_communicator(
                            {.name = name, .size = transfer.group.size, .ranks = {compute.rank}})};
  return channels_.emplace(key, channel).first->second;
}

TaskId NetworkCalls::communicate(TaskId anchor, Place place, const NetworkTransfer& transfer) {
  TaskSpec device = editor_.edit().like(anchor);
  const Channel channel = channel_of(graph_.lane(anchor), transfer);
  const TaskId call = editor_.own_call(anchor);
  if (call == none<TaskId>) return insert(transfer, channel, device, {anchor, place, none<LaneId>});
  // Device work stands right after its call, so "before" means before the call.
  const TaskId at = place == Place::before ? call : anchor;
  return insert(transfer, channel, device, {at, place, graph_.lane_id(call)});
}

TaskId NetworkCalls::put(const NetworkTransfer& transfer, const TransferPlace& place) {
  TaskSpec device = editor_.edit().like(place.like);
  device.step = place.step;
  return insert(transfer, channel_of(place.compute, transfer), device,
                {place.before_call, Place::before, place.thread});
}

TaskId NetworkCalls::insert(const NetworkTransfer& transfer, const Channel& channel,
                            TaskSpec device, const Anchor& anchor) {
  const CollectiveCall what{transfer.kind, transfer.bytes,
                            foretrace::place(cluster_, transfer.group)};
  const TransferTime time = transfer_time(cluster_, what);
  Editor& edit = editor_.edit();
  Work work;
  work.kind = TaskKind::collective;
  work.collective = transfer.kind;
  work.bytes = to_whole(transfer.bytes);
  work.communicator = channel.communicator;
  device.lane = channel.lane;
  device.work = edit.add_work(work, transfer.name);
  device.kind = TaskKind::collective;
  device.phase = Phase::communication;
  device.duration_ns = time.ns;
  device.segment_ns = 0;
  device.provenance = time.trust.provenance;
  TaskId task = none<TaskId>;
  if (anchor.thread == none<LaneId>) {
    task = edit.insert(device, anchor.task, anchor.place);
  } else {
    TaskSpec call = device;
    call.lane = anchor.thread;
    call.work = edit.add_work(fmt::format("launch of {}", transfer.name), TaskKind::launch);
    call.kind = TaskKind::launch;
    call.duration_ns = usual_.call_ns;
    call.segment_ns = to_whole(static_cast<double>(host_ns_) * collective_calls);
    call.provenance = Provenance::assumed;
    task = edit.insert(Editor::NewPair{call, device, usual_.latency_ns}, anchor.task, anchor.place)
               .device;
  }
  edit.set_duration(task, time.ns, time.trust);
  transferred_ns_ += time.ns;
  return task;
}

Result<TaskId> NetworkCalls::move_bytes(TaskId anchor, Place place, double bytes,
                                        std::string_view name) {
  FORETRACE_TRY(auto cost, editor_.moving_cost(bytes, KernelClass::elementwise));
  return editor_.add(anchor, place,
                     {name, moving_work(bytes / 8, bytes / 8, Precision::fp32), cost, host_ns_});
}

void NetworkCalls::next_waits(TaskId kernel, TaskId transfer) {
  const TaskId next = next_on_lane(graph_, kernel);
  if (next != none<TaskId>) wait(next, transfer);
  editor_.edit().share_waiting(transfer, kernel);
}

}  // namespace foretrace::editing
