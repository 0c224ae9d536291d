#include "apps/predictor/device_use.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sim/graph/occupancy.h"
#include "sim/result/steps/steps.h"
#include "sim/result/summary.h"

namespace foretrace {
namespace {

/// Share of the device that kernels fill while they run; what is not known fills all of it.
double room_of(const TaskGraph& graph) {
  double filled = 0;
  double all = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (graph.kind(task) != TaskKind::kernel) continue;
    const auto duration = static_cast<double>(graph.duration_ns(task));
    const Lane& lane = graph.lane(task);
    const auto& devices = graph.context().devices;
    const auto device = std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& one) {
      return one.rank == lane.rank && one.device == lane.device;
    });
    const auto share = device == devices.end() ? std::nullopt : waves(graph.work(task), *device);
    filled += duration * std::min(1.0, share.value_or(1));
    all += duration;
  }
  return all > 0 ? filled / all : 1;
}

/// Time in which the device works for a step. The span is the step where none were recorded: the
/// time in which the device does anything then, as `simulate` tells it.
std::int64_t work_of(const TaskGraph& graph, const Run& run) {
  if (!run.answer.is_span) return run.answer.work_ns;
  const StepScope scope = scope_of(graph, run.steps, run.answer, 0);
  return summarize(graph, run.timeline, {scope.begin_ns, scope.end_ns, scope.rank}).device_busy_ns;
}

}  // namespace

Status check_one_device(const TaskGraph& graph) {
  std::set<std::pair<std::int32_t, std::int32_t>> devices;  // rank, device
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto task = make_id<TaskId>(i);
    if (!is_device(graph.kind(task))) continue;
    const Lane& lane = graph.lane(task);
    devices.insert({lane.rank, lane.device});
  }
  if (devices.size() == 1) return ok_status();
  return Error{ErrorCode::unsupported,
               devices.empty()
                   ? std::string("contains no GPU work, expected a run of one device")
                   : fmt::format("runs on {} devices, expected a run of one", devices.size())};
}

DeviceUse use_of(const TaskGraph& graph, const Run& run) {
  const auto step = static_cast<double>(std::max<std::int64_t>(1, run.answer.step_ns));
  DeviceUse use;
  use.busy = std::min(1.0, static_cast<double>(work_of(graph, run)) / step);
  use.room = room_of(graph);
  return use;
}

}  // namespace foretrace
