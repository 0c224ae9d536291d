// Event-driven engine: lanes that choose among ready tasks, contention, what policies may change.
#include <algorithm>

#include <fmt/format.h>

#include "sim/engine/event/event_run.h"
#include "sim/engine/release/release.h"

namespace foretrace::engine {
namespace {

/// A task id and what happens to it share 32 bits in an event.
constexpr std::size_t max_tasks = (std::size_t{1} << 30U) - 1;

}  // namespace

bool goes_before(const ReadyTask& a, const ReadyTask& b) {
  if (a.priority != b.priority) return a.priority < b.priority;
  if (a.ready_ns != b.ready_ns) return a.ready_ns < b.ready_ns;
  return a.sequence < b.sequence;
}

/// The task stands in the lane's list until the lane chooses it.
void EventRun::offer(TaskId task) {
  LaneState& lane = lane_of(task);
  const LanePolicy policy = graph_.context().lanes[index(lane_id(task))].policy;
  ReadyTask ready{task, 0, now_ns_, arrivals_++};
  if (policy == LanePolicy::priority) {
    const auto& priorities = graph_.context().priorities;
    const auto found =
        std::lower_bound(priorities.begin(), priorities.end(), task,
                         [](const TaskPriority& row, TaskId id) { return row.task < id; });
    if (found != priorities.end() && found->task == task) {
      ready.priority = found->priority;
    }
  }
  stage_[index(task)] = Stage::offered;
  lane.ready.insert(std::upper_bound(lane.ready.begin(), lane.ready.end(), ready, goes_before),
                    ready);
  if (lane.busy || lane.dirty) return;
  lane.dirty = true;
  dirty_lanes_.push_back(static_cast<std::uint32_t>(lane_id(task)));
}

void EventRun::dispatch(std::size_t lane_number) {
  LaneState& lane = lanes_[lane_number];
  lane.dirty = false;
  if (lane.busy || lane.ready.empty()) return;
  std::size_t chosen = 0;
  if (options_.policy != nullptr) {
    chosen = options_.policy->choose(make_id<LaneId>(lane_number), lane.ready, *this);
    FORETRACE_CHECK(chosen < lane.ready.size());
  }
  const TaskId task = lane.ready[chosen].task;
  lane.ready.erase(lane.ready.begin() + static_cast<std::ptrdiff_t>(chosen));
  lane.busy = true;
  push(lane.free_ns + segment_ns(task), task, Happens::begin);
}

/// Everything at this instant is known: free lanes choose, capacities are shared. True if that
/// made something happen.
Result<bool> EventRun::settle() {
  if (!dirty_lanes_.empty()) {
    std::vector<std::uint32_t> lanes;
    lanes.swap(dirty_lanes_);
    std::sort(lanes.begin(), lanes.end());
    for (const std::uint32_t lane : lanes) {
      dispatch(lane);
    }
    return true;
  }
  if (!contention_.is_dirty()) return false;
  moved_.clear();
  FORETRACE_TRY(contention_.settle(now_ns_, moved_));
  for (const TaskId task : moved_) {
    push(contention_.end_ns(task), task, Happens::end);
  }
  return true;
}

/// Adds a dependency into a task that has not started; unknown points keep it open.
void EventRun::depend(const Dependency& dependency) {
  const std::size_t task = index(dependency.task);
  extras_.push_back({dependency, first_extra_[task]});
  first_extra_[task] = static_cast<std::uint32_t>(extras_.size());
  for (const Point point : {dependency.source, dependency.late_after}) {
    if (point == no_point || knows(point)) continue;
    std::uint32_t& first = first_waiter_[index(task_of(point))];
    waiters_.push_back({point, dependency.task, first});
    first = static_cast<std::uint32_t>(waiters_.size());
    ++open_[task];
  }
}

bool EventRun::has_started(TaskId task) const {
  return index(task) < stage_.size() && stage_[index(task)] >= Stage::started;
}
bool EventRun::has_ended(TaskId task) const {
  return index(task) < stage_.size() && stage_[index(task)] == Stage::ended;
}

Status EventRun::check(const Dependency& dependency, bool task_too) const {
  const auto is_known = [this](Point point) { return index(task_of(point)) < stage_.size(); };
  if (dependency.source == no_point || !is_known(dependency.source) ||
      (dependency.late_after != no_point && !is_known(dependency.late_after)) ||
      (task_too && index(dependency.task) >= stage_.size())) {
    return Error{
        ErrorCode::bad_config,
        fmt::format("policy: a dependency names a task out of range, there are {}", stage_.size())};
  }
  return ok_status();
}

Status EventRun::add_dependency(const Dependency& dependency) {
  FORETRACE_TRY(check(dependency, true));
  if (stage_[index(dependency.task)] >= Stage::offered) {
    return Error{ErrorCode::bad_config,
                 fmt::format("policy: task {} no longer waits, no dependency can delay it",
                             index(dependency.task))};
  }
  depend(dependency);
  return ok_status();
}

void EventRun::append_columns(const AppendedTask& appended) {
  TaskColumns& columns = execution_.appended;
  columns.lane.push_back(appended.task.lane);
  columns.work.push_back(appended.task.work);
  columns.kind.push_back(appended.task.kind);
  columns.phase.push_back(appended.task.phase);
  columns.layer.push_back(appended.task.layer);
  columns.step.push_back(appended.task.step);
  columns.provenance.push_back(appended.task.provenance);
  execution_.appended_duration_ns.push_back(appended.task.duration_ns);
  execution_.appended_segment_ns.push_back(appended.task.segment_ns);
  appended_at_ns_.push_back(appended.before == none<TaskId> ? never_ns : now_ns_);
  points().insert(points().end(), 2, unknown_ns);
  open_.push_back(0);
  stage_.push_back(Stage::waiting);
  first_extra_.push_back(0);
  extra_latest_ns_.push_back(never_ns);
  first_waiter_.push_back(0);
}

/// What stands before a task of the graph on its lane, without what was put there meanwhile.
TaskId EventRun::before(TaskId task) const {
  const Point source = topology_.sources[index(task)][lane_slot];
  return source == no_point ? none<TaskId> : task_of(source);
}

Status EventRun::check_place(const AppendedTask& appended) const {
  const TaskId place = appended.before;
  if (place == none<TaskId>) return ok_status();
  if (index(place) >= static_tasks_ || graph_.lane_id(place) != appended.task.lane ||
      stage_[index(place)] >= Stage::offered || (call_time_ && is_stream(appended.task.lane))) {
    return Error{
        ErrorCode::bad_config,
        fmt::format("policy: nothing can be inserted before task {}, expected a task of the graph "
                    "on lane {} that has not started, in a run with recorded waits",
                    index(place), index(appended.task.lane))};
  }
  return ok_status();
}

/// The host time before the task that comes after it has passed if that one is ready by now.
void EventRun::put_before(TaskId task, const AppendedTask& appended) {
  const TaskId next = appended.before;
  const auto [found, is_first] = put_before_.try_emplace(next, none<TaskId>);
  const TaskId last = is_first ? before(next) : found->second;
  found->second = task;
  if (!lanes_[index(appended.task.lane)].ordered) {
    return depend({end_of(task), next, DependencyKind::control, 0, 0.0F, no_point});
  }
  if (last != none<TaskId>) {
    depend({end_of(last), task, DependencyKind::program_order, appended.task.segment_ns, 0.0F,
            no_point});
  }
  const std::int64_t rest = stage_[index(next)] >= Stage::arrived ? 0 : segment_ns(next);
  depend({end_of(task), next, DependencyKind::program_order, rest, 0.0F, no_point});
}

/// The last task of a lane in program order, appended ones included.
TaskId EventRun::last_of(LaneId lane) const {
  const auto& appended = execution_.appended.lane;
  const auto& columns = graph_.columns().lane;
  const auto newest = std::find(appended.rbegin(), appended.rend(), lane);
  if (newest != appended.rend()) {
    return make_id<TaskId>(static_tasks_ + static_cast<std::size_t>(appended.rend() - newest) - 1);
  }
  const auto last = std::find(columns.rbegin(), columns.rend(), lane);
  return last == columns.rend()
             ? none<TaskId>
             : make_id<TaskId>(static_cast<std::size_t>(columns.rend() - last) - 1);
}

Result<TaskId> EventRun::append(const AppendedTask& appended) {
  const TaskSpec& spec = appended.task;
  const GraphContext& context = graph_.context();
  if (index(spec.lane) >= context.lanes.size() || index(spec.work) >= context.works.size() ||
      index(spec.layer) >= context.layers.size() || spec.duration_ns < 0 || spec.segment_ns < 0) {
    return Error{ErrorCode::bad_config,
                 fmt::format("policy: appended task has an id out of range or a negative time, got "
                             "lane {}, work {}, layer {}, duration {} ns, segment {} ns",
                             index(spec.lane), index(spec.work), index(spec.layer),
                             spec.duration_ns, spec.segment_ns)};
  }
  for (const Dependency& dependency : appended.dependencies) {
    FORETRACE_TRY(check(dependency, false));
  }
  for (const Demand& demand : appended.demands) {
    if (demand.capacity < context.capacities.size()) continue;
    return Error{ErrorCode::bad_config, fmt::format("policy: no capacity {}, there are {}",
                                                    demand.capacity, context.capacities.size())};
  }
  FORETRACE_TRY(check_place(appended));
  FORETRACE_CHECK(stage_.size() < max_tasks);
  LaneState& lane = lanes_[index(spec.lane)];
  const bool enqueues = call_time_ && is_stream(spec.lane);
  const bool is_behind = lane.ordered && appended.before == none<TaskId>;
  const TaskId behind = enqueues ? lane.tail : is_behind ? last_of(spec.lane) : none<TaskId>;
  const TaskId last = is_behind ? behind : none<TaskId>;
  const auto task = make_id<TaskId>(stage_.size());
  append_columns(appended);
  if (enqueues) {
    lane.tail = task;
  }
  if (appended.before != none<TaskId>) {
    put_before(task, appended);
  }
  if (last != none<TaskId>) {
    depend({end_of(last), task, DependencyKind::program_order, spec.segment_ns, 0.0F, no_point});
  }
  for (Dependency dependency : appended.dependencies) {
    dependency.task = task;
    depend(dependency);
  }
  contention_.add_demands(task, appended.demands);
  has_contention_ = has_contention_ || !appended.demands.empty();
  if (open_[index(task)] == 0) {
    push(release_ns(task), task, Happens::ready);
  }
  return task;
}

}  // namespace foretrace::engine
