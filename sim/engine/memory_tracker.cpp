#include "sim/engine/memory_tracker.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "sim/core/result.h"

namespace foretrace {
namespace {

/// At one place frees come before allocations, and a tensor of no lifetime goes after it came.
enum class Action : std::uint8_t { release, allocate, release_at_once };

struct Happening {
  TaskId task{};
  std::int64_t offset_ns = 0;  ///< before the end of the task's segment
  Action action = Action::allocate;
  std::uint32_t tensor = 0;
};

using Place = std::pair<std::int32_t, std::int32_t>;  ///< rank, device

struct Device {
  std::vector<Happening> happenings;
  std::array<std::int64_t, tensor_category_count> live{};
};

/// A tensor that nothing in the window touches belongs to the first rank that has its device.
[[nodiscard]] Place place_of(const TaskGraph& graph, const Tensor& tensor) {
  const TaskId touched =
      tensor.allocated_in != none<TaskId> ? tensor.allocated_in : tensor.freed_in;
  if (touched != none<TaskId>) {
    return {graph.lane(touched).rank, tensor.device};
  }
  for (const DeviceInfo& device : graph.context().devices) {
    if (device.device == tensor.device) {
      return {device.rank, tensor.device};
    }
  }
  return {0, tensor.device};
}

[[nodiscard]] std::map<Place, Device> collect(const TaskGraph& graph) {
  std::map<Place, Device> devices;
  const std::vector<Tensor>& tensors = graph.context().tensors;
  for (std::uint32_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    Device& device = devices[place_of(graph, tensor)];
    const bool at_once = tensor.allocated_in == tensor.freed_in &&
                         tensor.allocated_offset_ns == tensor.freed_offset_ns;
    if (tensor.allocated_in == none<TaskId>) {
      device.live[static_cast<std::size_t>(tensor.category)] += tensor.bytes;
    } else {
      device.happenings.push_back(
          {tensor.allocated_in, tensor.allocated_offset_ns, Action::allocate, i});
    }
    if (tensor.freed_in != none<TaskId>) {
      device.happenings.push_back({tensor.freed_in, tensor.freed_offset_ns,
                                   at_once ? Action::release_at_once : Action::release, i});
    }
  }
  return devices;
}

/// End of a task's segment, from where offsets count back; never after its start.
[[nodiscard]] std::int64_t segment_end(const TaskGraph& graph, const Timeline& timeline,
                                       TaskId task) {
  const Point lane = graph.topology().sources[index(task)][lane_slot];
  const std::int64_t from = lane == no_point ? 0 : timeline.points[index(lane)];
  return std::min(from + graph.segment_ns(task), timeline.start_ns(task));
}

[[nodiscard]] std::int64_t sum_of(const std::array<std::int64_t, tensor_category_count>& bytes) {
  std::int64_t sum = 0;
  for (const std::int64_t value : bytes) {
    sum += value;
  }
  return sum;
}

void follow(const TaskGraph& graph, const Timeline& timeline, Device& device, MemoryCurve& curve) {
  std::stable_sort(device.happenings.begin(), device.happenings.end(),
                   [](const Happening& a, const Happening& b) {
                     return std::make_tuple(a.task, -a.offset_ns, a.action) <
                            std::make_tuple(b.task, -b.offset_ns, b.action);
                   });
  std::int64_t live = sum_of(device.live);
  curve.base_bytes = live;
  curve.peak_bytes = live;
  curve.at_peak = device.live;
  std::int64_t at = 0;
  for (const Happening& happening : device.happenings) {
    const Tensor& tensor = graph.context().tensors[happening.tensor];
    const std::int64_t bytes = happening.action == Action::allocate ? tensor.bytes : -tensor.bytes;
    live += bytes;
    device.live[static_cast<std::size_t>(tensor.category)] += bytes;
    at = std::max(at, segment_end(graph, timeline, happening.task) - happening.offset_ns);
    curve.points.push_back({at, live, happening.task});
    if (live > curve.peak_bytes) {
      curve.peak_bytes = live;
      curve.peak_at_ns = at;
      curve.peak_task = happening.task;
      curve.at_peak = device.live;
    }
  }
  curve.end_bytes = live;
}

}  // namespace

std::vector<MemoryCurve> track_memory(const TaskGraph& graph, const Timeline& timeline) {
  FORETRACE_CHECK(timeline.size() >= graph.size());
  std::vector<MemoryCurve> curves;
  for (auto& [place, device] : collect(graph)) {
    MemoryCurve& curve = curves.emplace_back();
    curve.rank = place.first;
    curve.device = place.second;
    follow(graph, timeline, device, curve);
  }
  return curves;
}

}  // namespace foretrace
