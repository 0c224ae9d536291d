// Event-driven engine: what waits, streams and queues mean when the simulated calls decide.
//
// A host call "arrives" when everything it waits for by dependencies is done. At that instant, in
// this order: waits placed at the call look at the last operation of their streams, and what the
// call enqueues takes its place behind the last operation of its stream and in the stream's queue.
// An operation without a launch (it was enqueued before the recording, or its call was lost) takes
// its place with the host task that it follows in program order, or before everything else.
#include <algorithm>

#include "sim/engine/event/event_run.h"
#include "sim/graph/links.h"

namespace foretrace::engine {

bool EventRun::is_stream(LaneId lane) const {
  return is_stream_like(graph_.context().lanes[index(lane)].kind);
}

void EventRun::prepare_calls() {
  // Nobody starts before it is enqueued, nor before its waits know what they wait for.
  for (std::size_t task = 0; task < static_tasks_; ++task) {
    open_[task] += is_stream(graph_.columns().lane[task]) ? 1U : 0U;
  }
  const std::vector<Wait>& waits = graph_.context().waits;
  for (std::uint32_t i = 0; i < waits.size(); ++i) {
    const TaskId at = std::min(waits[i].at, waits[i].task);
    waits_.emplace_back(at, i);
    if (at != waits[i].task) {
      ++open_[index(waits[i].task)];
    }
  }
  std::sort(waits_.begin(), waits_.end());
}

void EventRun::call(TaskId task) {
  if (is_stream(graph_.lane_id(task))) {
    return;  // its place in program order was taken when it was enqueued
  }
  resolve_at(task);
  enqueue_all(task);
}

/// Waits that look at the streams as they are before `task`.
void EventRun::resolve_at(TaskId task) {
  const auto [first, last] =
      std::equal_range(waits_.begin(), waits_.end(), std::pair<TaskId, std::uint32_t>{task, 0},
                       [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto at = first; at != last; ++at) {
    const Wait& wait = graph_.context().waits[at->second];
    resolve(wait);
    if (wait.task != task) {
      close(wait.task);
    }
  }
}

/// What the call launches, and what follows it in program order without a launch.
void EventRun::enqueue_all(TaskId call) {
  std::vector<TaskId> enqueued = unlaunched_from(index(call) + 1);
  for (const TaskId task : launched_by(graph_, call)) {
    enqueued.push_back(task);
  }
  std::sort(enqueued.begin(), enqueued.end());
  enqueued.erase(std::unique(enqueued.begin(), enqueued.end()), enqueued.end());
  for (const TaskId task : enqueued) {
    enqueue(launch_of(graph_, task), task);
  }
}

/// Operations without a launch among those up to the next host task.
std::vector<TaskId> EventRun::unlaunched_from(std::size_t first) const {
  std::vector<TaskId> result;
  for (std::size_t task = first; task < static_tasks_ && is_stream(graph_.columns().lane[task]);
       ++task) {
    if (launch_of(graph_, make_id<TaskId>(task)) == none<TaskId>) {
      result.push_back(make_id<TaskId>(task));
    }
  }
  return result;
}

void EventRun::enqueue_backlog() {
  for (const TaskId task : unlaunched_from(0)) {
    enqueue(none<TaskId>, task);
  }
}

/// As commit() resolves waits, but with the operations enqueued by now.
void EventRun::resolve(const Wait& wait) {
  const LaneId own = graph_.lane_id(wait.task);
  const auto& lanes = graph_.context().lanes;
  const auto wait_for = [&](std::size_t lane) {
    const TaskId tail = lanes_[lane].tail;
    if (lane == index(own) || tail == none<TaskId>) return;
    depend({end_of(tail), wait.task, wait.kind, wait.lag_ns, 0.0F, wait.late_after});
  };
  if (wait.lane != none<LaneId>) {
    if (is_stream(wait.lane)) {
      wait_for(index(wait.lane));
    }
    return;
  }
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const bool meant = lanes[lane].rank == wait.rank &&
                       (wait.device == no_device || lanes[lane].device == wait.device);
    if (meant && is_stream(make_id<LaneId>(lane))) {
      wait_for(lane);
    }
  }
}

void EventRun::enqueue(TaskId launch, TaskId task) {
  resolve_at(task);
  LaneState& lane = lane_of(task);
  if (lane.ordered && lane.tail != none<TaskId>) {
    depend(
        {end_of(lane.tail), task, DependencyKind::stream_order, segment_ns(task), 0.0F, no_point});
  }
  lane.tail = task;
  const std::size_t depth = graph_.context().lanes[index(lane_id(task))].queue_depth;
  // Several operations of one launch (a graph) are one entry of the queue; so are the two parts of
  // an operation.
  if (depth != 0 && graph_.work(task).part != TaskPart::finish &&
      (launch == none<TaskId> || lane.last_launch != launch)) {
    const std::size_t entry = lane.entries.size();
    lane.entries.push_back(task);
    lane.last_launch = launch;
    if (launch != none<TaskId> && entry >= depth) {
      depend({start_of(lane.entries[entry - depth]), launch, DependencyKind::queue, 0, 0.0F,
              no_point});
    }
  }
  close(task);
}

}  // namespace foretrace::engine
