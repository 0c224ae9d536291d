// Waits and full launch queues, resolved in one sweep in program order.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
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

namespace {

/// Of a device with more streams than this, a host thread waits only for what is new since its last
/// wait for all of them. Otherwise links would grow with waits times streams; below, every wait
/// keeps its own, which is what is shown.
constexpr std::size_t many_streams = 64;

/// One sweep over the waits in program order.
class WaitSweep {
 public:
  explicit WaitSweep(const Draft& draft)
      : waits_(draft.context.waits),
        lanes_(draft.context.lanes),
        lane_of_(draft.columns.lane),
        devices_(lanes_),
        tail_(lanes_.size(), none<TaskId>) {}

  std::vector<Dependency> run() {
    std::vector<std::uint32_t> order(waits_.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto earlier = [this](std::uint32_t a, std::uint32_t b) {
      return limit(waits_[a]) < limit(waits_[b]);
    };
    if (!std::is_sorted(order.begin(), order.end(), earlier)) {
      std::stable_sort(order.begin(), order.end(), earlier);
    }
    for (const std::uint32_t i : order) resolve(waits_[i]);
    return std::move(result_);
  }

 private:
  /// A wait cannot look beyond the task that waits, so the sweep stops there.
  [[nodiscard]] static TaskId limit(const Wait& wait) { return std::min(wait.at, wait.task); }

  void resolve(const Wait& wait) {
    for (; position_ < index(limit(wait)); ++position_) {
      tail_[index(lane_of_[position_])] = make_id<TaskId>(position_);
    }
    if (wait.lane != none<LaneId>) {
      if (is_stream_like(lanes_[index(wait.lane)].kind)) wait_for(wait, wait.lane);
      return;
    }
    const std::vector<std::uint32_t>& streams = devices_.of(wait.rank, wait.device);
    if (streams.size() > many_streams) return wait_for_new(wait, streams);
    for (const std::uint32_t lane : streams) wait_for(wait, LaneId{lane});
  }

  void wait_for(const Wait& wait, LaneId lane) {
    const TaskId last = tail_[index(lane)];
    if (lane == lane_of_[index(wait.task)] || last == none<TaskId>) return;
    result_.push_back({end_of(last), wait.task, wait.kind, wait.lag_ns, 0.0F, wait.late_after});
  }

  /// The thread of the wait has seen the end of what an earlier one of its waits looked at.
  void wait_for_new(const Wait& wait, const std::vector<std::uint32_t>& streams) {
    Seen& seen = seen_[{lane_of_[index(wait.task)], wait.rank, wait.device}];
    const bool is_behind = seen.by != none<TaskId> && seen.by < wait.task;
    const bool is_seen = is_behind && (wait.lag_ns <= 0 || follows(wait, seen.by));
    const std::size_t from = is_seen ? seen.position : 0;
    if (position_ - from < streams.size()) {
      for (std::size_t t = from; t < position_; ++t) {
        const LaneId lane = lane_of_[t];
        const Lane& about = lanes_[index(lane)];
        const bool meant = is_stream_like(about.kind) && about.rank == wait.rank &&
                           (wait.device == no_device || about.device == wait.device);
        if (meant && index(tail_[index(lane)]) == t) wait_for(wait, lane);
      }
    } else {
      for (const std::uint32_t lane : streams) {
        if (tail_[lane] != none<TaskId> && index(tail_[lane]) >= from) {
          wait_for(wait, LaneId{lane});
        }
      }
    }
    if (wait.lag_ns >= 0) seen = {wait.task, position_};
  }

  /// True if a lag counts only for what ends after `by`, on the same thread, has.
  [[nodiscard]] bool follows(const Wait& wait, TaskId by) const {
    return wait.late_after != no_point && task_of(wait.late_after) > by &&
           lane_of_[index(task_of(wait.late_after))] == lane_of_[index(by)];
  }

  struct Seen {
    TaskId by = none<TaskId>;
    std::size_t position = 0;
  };

  const std::vector<Wait>& waits_;
  const std::vector<Lane>& lanes_;
  const std::vector<LaneId>& lane_of_;
  const DeviceLanes devices_;
  std::vector<TaskId> tail_;  // last task per lane before the position; host lanes are never asked
  std::size_t position_ = 0;
  std::map<std::tuple<LaneId, std::int32_t, std::int32_t>, Seen> seen_;
  std::vector<Dependency> result_;
};

}  // namespace

std::vector<Dependency> resolve_waits(const Draft& draft) {
  return draft.context.waits.empty() ? std::vector<Dependency>{} : WaitSweep(draft).run();
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
