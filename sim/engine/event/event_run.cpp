#include "sim/engine/event/event_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/engine/release/release.h"

namespace foretrace::engine {
EventRun::EventRun(const TaskGraph& graph, const EventDrivenOptions& options)
    : graph_(graph),
      topology_(graph.topology()),
      options_(options),
      static_tasks_(graph.size()),
      late_(graph.topology(), LateEdgeScope::all),
      contention_(graph.context()),
      has_contention_(!graph.context().demands.empty()),
      call_time_(
          options.waits == WaitResolution::call_time ||
          (options.waits == WaitResolution::automatic && !graph.topology().launch_order_fixed)),
      lanes_(graph.context().lanes.size()),
      open_(graph.size(), 0),
      stage_(graph.size(), Stage::waiting),
      first_extra_(graph.size(), 0),
      extra_latest_ns_(graph.size(), never_ns),
      first_waiter_(graph.size(), 0),
      memory_(graph, options.budgets) {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    lanes_[lane].ordered = graph.context().lanes[lane].policy == LanePolicy::program_order;
  }
  points().assign(2 * graph.size(), unknown_ns);
  if (wants_calendar(options.queue, lanes_.size())) {
    calendar_.emplace(typical_step_ns(graph.weights()), lanes_.size());
  }
}

void EventRun::count_open() {
  for (std::size_t task = 0; task < static_tasks_; ++task) {
    for (std::size_t slot = 0; slot < 3; ++slot) {
      open_[task] += honours(task, slot) ? 1U : 0U;
    }
  }
  for (const OverflowDependency& row : topology_.overflow) {
    const bool honoured = row.source != no_point && !(call_time_ && row.symbolic);
    open_[index(row.task)] += honoured ? 1U : 0U;
  }
  for (const LateEdge& edge : late_.edges()) {
    ++open_[index(edge.task)];
  }
}

std::int64_t EventRun::duration_ns(TaskId task) const {
  return index(task) < static_tasks_ ? graph_.duration_ns(task)
                                     : execution_.appended_duration_ns[index(task) - static_tasks_];
}
std::int64_t EventRun::segment_ns(TaskId task) const {
  return index(task) < static_tasks_ ? graph_.segment_ns(task)
                                     : execution_.appended_segment_ns[index(task) - static_tasks_];
}
LaneId EventRun::lane_id(TaskId task) const {
  return index(task) < static_tasks_ ? graph_.lane_id(task)
                                     : execution_.appended.lane[index(task) - static_tasks_];
}

void EventRun::push(std::int64_t time_ns, TaskId task, Happens what) {
  const std::uint32_t payload =
      static_cast<std::uint32_t>(task) << 2U | static_cast<std::uint32_t>(what);
  const std::int64_t time = std::max(time_ns, now_ns_);
  calendar_ ? calendar_->push(time, payload) : heap_.push(time, payload);
}

void EventRun::on_ready(TaskId task) {
  // A policy may have held the task back, or released it twice, after it was announced.
  if (open_[index(task)] != 0 || stage_[index(task)] >= Stage::offered) return;
  if (stage_[index(task)] == Stage::waiting) {
    stage_[index(task)] = Stage::arrived;
    if (call_time_ && index(task) < static_tasks_) {
      call(task);
    }
    if (open_[index(task)] != 0) return;
  }
  const std::int64_t release = release_ns(task);
  if (release > now_ns_) return push(release, task, Happens::ready);
  if (!lane_of(task).ordered) return offer(task);
  const std::int64_t waited_ns = execution_.memory_waited_ns;
  if (memory_.is_active() && !may_allocate(task)) return;
  // What memory held back, or waited for an end that was not known beforehand, cannot start in the
  // past.
  const bool was_held = execution_.memory_waited_ns != waited_ns;
  start(task, has_contention_ || was_held ? std::max(release, now_ns_) : release);
}

void EventRun::start(TaskId task, std::int64_t start_ns) {
  stage_[index(task)] = Stage::started;
  ++started_;
  points()[index(start_of(task))] = start_ns;
  if (options_.policy != nullptr) {
    options_.policy->on_start(task, *this);
  }
  const std::int64_t duration = duration_ns(task);
  if (has_contention_ && duration > 0 && contention_.has_demands(task)) {
    contention_.begin(task, now_ns_, duration);
    return close_edges(task, start_of(task));
  }
  const std::int64_t end = add_ns(start_ns, duration);
  points()[index(end_of(task))] = end;
  // Its end comes before what it releases at the same instant: a policy may free memory by it.
  const bool is_watched = !lane_of(task).ordered || options_.policy != nullptr;
  if (is_watched) {
    push(end, task, Happens::end);
  }
  close_edges(task, start_of(task));
  close_edges(task, end_of(task));
  if (!is_watched) {
    stage_[index(task)] = Stage::ended;
  }
}

void EventRun::on_end(TaskId task) {
  if (stage_[index(task)] != Stage::started) return;
  if (!knows(end_of(task))) {
    if (contention_.end_ns(task) != now_ns_) {
      return;
    }  // its end has moved since
    contention_.finish(task, now_ns_);
    points()[index(end_of(task))] = now_ns_;
    close_edges(task, end_of(task));
  }
  stage_[index(task)] = Stage::ended;
  LaneState& lane = lane_of(task);
  if (!lane.ordered) {
    lane.busy = false;
    lane.free_ns = points()[index(end_of(task))];
    if (!lane.dirty && !lane.ready.empty()) {
      lane.dirty = true;
      dirty_lanes_.push_back(static_cast<std::uint32_t>(lane_id(task)));
    }
  }
  if (options_.policy != nullptr) {
    options_.policy->on_end(task, *this);
  }
}

void EventRun::handle(const Event& event) {
  const TaskId task{event.payload >> 2U};
  switch (static_cast<Happens>(event.payload & 3U)) {
    case Happens::ready: return on_ready(task);
    case Happens::begin: return start(task, event.time_ns);
    case Happens::end: return on_end(task);
  }
}

Status EventRun::loop() {
  const auto empty = [this] { return calendar_ ? calendar_->empty() : heap_.empty(); };
  const auto next_ns = [this] {
    return calendar_ ? calendar_->top().time_ns : heap_.top().time_ns;
  };
  while (true) {
    // What happens at one instant is decided together: choices and shares come after it.
    if (empty() || next_ns() > now_ns_) {
      FORETRACE_TRY(bool settled, settle());
      if (settled) continue;
      if (empty()) return ok_status();
    }
    const Event event = calendar_ ? calendar_->pop() : heap_.pop();
    now_ns_ = event.time_ns;
    handle(event);
    if (out_of_memory_) return *std::move(out_of_memory_);
  }
}

Error EventRun::deadlock() const {
  std::size_t waiting = 0;
  std::size_t first = stage_.size();
  for (std::size_t task = 0; task < stage_.size(); ++task) {
    if (stage_[task] >= Stage::started) continue;
    first = std::min(first, task);
    ++waiting;
  }
  const bool is_static = first < static_tasks_;
  return {ErrorCode::cyclic_graph,
          fmt::format("event-driven engine: {} tasks wait for each other, the first is {} '{}' "
                      "(task {})",
                      waiting, is_static ? to_string(graph_.kind(make_id<TaskId>(first))) : "task",
                      is_static ? graph_.name(make_id<TaskId>(first)) : "appended", first)};
}

Result<Execution> EventRun::run() {
  if (call_time_) {
    prepare_calls();
  }
  count_open();
  for (std::size_t task = 0; task < static_tasks_; ++task) {
    if (open_[task] == 0) {
      push(release_ns(make_id<TaskId>(task)), make_id<TaskId>(task), Happens::ready);
    }
  }
  if (call_time_) {
    enqueue_backlog();
  }
  FORETRACE_TRY(loop());
  if (started_ != stage_.size()) {
    if (!held_.empty()) {
      return Error{ErrorCode::unsupported, memory_.describe(held_.front().task)};
    }
    return deadlock();
  }
  Timeline& timeline = execution_.timeline;
  timeline.span_ns = 0;
  for (std::size_t end = 1; end < timeline.points.size(); end += 2) {
    timeline.span_ns = std::max(timeline.span_ns, timeline.points[end]);
  }
  for (const Extra& extra : extras_) {
    execution_.added_dependencies.push_back(extra.dependency);
  }
  execution_.memory = memory_.uses();
  execution_.capacity_use = contention_.use();
  execution_.capacity_full_ns = contention_.full_ns();
  return std::move(execution_);
}

}  // namespace foretrace::engine

namespace foretrace {

Result<Execution> simulate_event_driven(const TaskGraph& graph, const EventDrivenOptions& options) {
  const auto& lanes = graph.context().lanes;
  const bool ordered = std::all_of(lanes.begin(), lanes.end(), [](const Lane& lane) {
    return lane.policy == LanePolicy::program_order;
  });
  const bool recorded =
      options.waits == WaitResolution::recorded ||
      (options.waits == WaitResolution::automatic && graph.topology().launch_order_fixed);
  if (ordered && recorded && options.policy == nullptr && options.budgets.empty() &&
      graph.context().demands.empty()) {
    Execution execution;
    simulate_event_driven(graph.topology(), graph.weights(), execution.timeline, options.queue);
    execution.capacity_use.assign(graph.context().capacities.size(), 0.0);
    execution.capacity_full_ns.assign(graph.context().capacities.size(), 0);
    return execution;
  }
  return engine::EventRun(graph, options).run();
}

}  // namespace foretrace
