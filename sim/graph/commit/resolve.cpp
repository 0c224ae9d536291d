// Waits and full launch queues, resolved in one sweep in program order.
#include <algorithm>
#include <map>
#include <utility>

#include "sim/graph/commit/draft.h"

namespace foretrace::committing {

namespace {

/// The stream lanes of every device of every rank, in lane order.
class DeviceLanes {
 public:
  explicit DeviceLanes(const std::vector<Lane>& lanes) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (!is_stream_like(lanes[i].kind)) continue;
      const auto lane = static_cast<std::uint32_t>(i);
      lanes_[{lanes[i].rank, lanes[i].device}].push_back(lane);
      if (lanes[i].device != no_device) lanes_[{lanes[i].rank, no_device}].push_back(lane);
    }
  }
  [[nodiscard]] const std::vector<std::uint32_t>& of(std::int32_t rank, std::int32_t device) const {
    const auto found = lanes_.find({rank, device});
    return found == lanes_.end() ? empty_ : found->second;
  }

 private:
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::uint32_t>> lanes_;
  std::vector<std::uint32_t> empty_;
};

}  // namespace

std::vector<TaskId> launches(const Draft& draft) {
  std::vector<TaskId> result(draft.size(), none<TaskId>);
  for_each_dependency(draft, [&](TaskId task, Point point, Point, DependencyKind kind) {
    if (kind != DependencyKind::launch || result[index(task)] != none<TaskId>) return;
    if (!is_stream_like(draft.context.lanes[index(draft.columns.lane[index(task)])].kind)) return;
    const TaskId source = task_of(point);
    if (is_host(draft.columns.kind[index(source)])) result[index(task)] = source;
  });
  return result;
}

std::vector<Dependency> resolve_waits(const Draft& draft) {
  std::vector<Dependency> result;
  const std::vector<Wait>& waits = draft.context.waits;
  if (waits.empty()) return result;
  const std::vector<LaneId>& lane_of = draft.columns.lane;
  const DeviceLanes devices(draft.context.lanes);
  // Last task per lane among the tasks before the sweep's position; host lanes are never asked.
  std::vector<TaskId> tail(draft.context.lanes.size(), none<TaskId>);
  std::size_t position = 0;
  // A wait cannot look beyond the task that waits, so the sweep stops there.
  std::vector<std::uint32_t> order(waits.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  const auto limit = [&waits](std::uint32_t i) { return std::min(waits[i].at, waits[i].task); };
  const auto earlier = [&limit](std::uint32_t a, std::uint32_t b) { return limit(a) < limit(b); };
  if (!std::is_sorted(order.begin(), order.end(), earlier)) {
    std::stable_sort(order.begin(), order.end(), earlier);
  }
  for (const std::uint32_t i : order) {
    const Wait& wait = waits[i];
    for (; position < index(limit(i)); ++position) {
      tail[index(lane_of[position])] = make_id<TaskId>(position);
    }
    const LaneId own = lane_of[index(wait.task)];
    const auto wait_for = [&](LaneId lane) {
      const TaskId last = tail[index(lane)];
      if (lane == own || last == none<TaskId>) return;
      result.push_back({end_of(last), wait.task, wait.kind, wait.lag_ns, 0.0F, wait.late_after});
    };
    if (wait.lane != none<LaneId>) {
      if (is_stream_like(draft.context.lanes[index(wait.lane)].kind)) wait_for(wait.lane);
      continue;
    }
    for (const std::uint32_t lane : devices.of(wait.rank, wait.device)) wait_for(LaneId{lane});
  }
  return result;
}

std::vector<QueueLimit> resolve_queues(const Draft& draft, const std::vector<TaskId>& launch_of) {
  const std::vector<Lane>& lanes = draft.context.lanes;
  /// First device task of every entry so far, and the call that filled the last one.
  struct Queue {
    std::size_t depth = 0;
    std::vector<TaskId> entries;
    TaskId last_launch = none<TaskId>;
  };
  std::vector<Queue> queues(lanes.size());
  bool any = false;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if (is_stream_like(lanes[lane].kind)) queues[lane].depth = lanes[lane].queue_depth;
    any = any || queues[lane].depth > 0;
  }
  std::vector<QueueLimit> result;
  for (std::size_t t = 0; any && t < draft.size(); ++t) {
    Queue& queue = queues[index(draft.columns.lane[t])];
    // The finish of an operation in two parts belongs to the entry of its begin.
    const Work& work = draft.context.works[index(draft.columns.work[t])];
    if (queue.depth == 0 || work.part == TaskPart::finish) continue;
    const TaskId launch = launch_of[t];
    // Several tasks of one launch (a graph) are one entry; it leaves when its first task starts.
    if (launch != none<TaskId> && launch == queue.last_launch) continue;
    queue.last_launch = launch;
    const std::size_t k = queue.entries.size();
    queue.entries.push_back(make_id<TaskId>(t));
    if (launch == none<TaskId> || k < queue.depth) continue;
    const TaskId leaving = queue.entries[k - queue.depth];
    // A task that stands after the call in program order cannot be waited for there.
    if (leaving < launch) result.push_back({leaving, launch});
  }
  return result;
}

}  // namespace foretrace::committing
