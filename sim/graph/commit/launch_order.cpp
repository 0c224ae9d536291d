// Whether the order of launches on every stream is fixed by the dependencies between host lanes.
//
// Two calls of one host lane are ordered. Two calls of different host lanes are ordered if a chain
// of host-to-host dependencies (hand-overs) leads from one to the other. Orders that come about
// through device work only (a synchronization in between) are not looked for, so that the answer
// errs on the side of "not fixed".
#include <algorithm>

#include "sim/graph/commit/draft.h"

namespace foretrace::committing {

namespace {

struct HandOver {
  TaskId source{};
  TaskId task{};
};

std::vector<HandOver> hand_overs(const Draft& draft) {
  const std::vector<LaneId>& lane_of = draft.columns.lane;
  std::vector<bool> on_host;
  for (const Lane& lane : draft.context.lanes) on_host.push_back(!is_stream_like(lane.kind));
  std::vector<HandOver> result;
  for_each_dependency(draft, [&](TaskId task, Point source, Point late_after, DependencyKind) {
    const LaneId to = lane_of[index(task)];
    if (!on_host[index(to)] || late_after != no_point) return;
    const TaskId giver = task_of(source);
    const LaneId from = lane_of[index(giver)];
    if (from == to || !on_host[index(from)]) return;
    result.push_back({giver, task});
  });
  std::stable_sort(result.begin(), result.end(),
                   [](const HandOver& a, const HandOver& b) { return a.task < b.task; });
  return result;
}

/// Answers whether one host task comes before another of a later id, by sweeping the hand-overs
/// between them. `reached_[lane]` is the first task of the lane that comes after `from`.
class HostOrder {
 public:
  explicit HostOrder(const Draft& draft)
      : draft_(draft),
        hand_overs_(hand_overs(draft)),
        reached_(draft.context.lanes.size(), none<TaskId>) {}

  [[nodiscard]] bool precedes(TaskId from, TaskId to) {
    const LaneId goal = lane_of(to);
    if (lane_of(from) == goal) return true;
    for (const LaneId lane : touched_) reached_[index(lane)] = none<TaskId>;
    touched_ = {lane_of(from)};
    reached_[index(lane_of(from))] = from;
    auto at = std::upper_bound(hand_overs_.begin(), hand_overs_.end(), from,
                               [](TaskId id, const HandOver& h) { return id < h.task; });
    for (; at != hand_overs_.end() && at->task <= to; ++at) {
      if (reached_[index(lane_of(at->source))] > at->source) continue;
      TaskId& reached = reached_[index(lane_of(at->task))];
      if (reached == none<TaskId>) touched_.push_back(lane_of(at->task));
      reached = std::min(reached, at->task);
    }
    return reached_[index(goal)] <= to;
  }

 private:
  [[nodiscard]] LaneId lane_of(TaskId task) const { return draft_.columns.lane[index(task)]; }

  const Draft& draft_;
  std::vector<HandOver> hand_overs_;
  std::vector<TaskId> reached_;
  std::vector<LaneId> touched_;  // lanes that are reached
};

}  // namespace

bool launch_order_is_fixed(const Draft& draft, const std::vector<TaskId>& launch_of) {
  // The last launch per stream; `none` until the stream has one.
  std::vector<TaskId> last(draft.context.lanes.size(), none<TaskId>);
  std::vector<std::pair<TaskId, TaskId>> changes;  // consecutive launches from different host lanes
  for (std::size_t t = 0; t < draft.size(); ++t) {
    const TaskId launch = launch_of[t];
    if (launch == none<TaskId>) continue;
    TaskId& previous = last[index(draft.columns.lane[t])];
    if (previous != none<TaskId> &&
        draft.columns.lane[index(previous)] != draft.columns.lane[index(launch)]) {
      // Program order decides which of two calls is the earlier one.
      if (previous > launch) return false;
      changes.emplace_back(previous, launch);
    }
    previous = launch;
  }
  if (changes.empty()) return true;
  HostOrder order(draft);
  return std::all_of(changes.begin(), changes.end(), [&order](const auto& change) {
    return order.precedes(change.first, change.second);
  });
}

}  // namespace foretrace::committing
