// Edits that add.
#include <utility>

#include "sim/edit/editor.h"
#include "sim/graph/links.h"

namespace foretrace {

TaskId Editor::next_task() const {
  return make_id<TaskId>(graph_.size() + change_.inserted.size());
}

WorkId Editor::add_work(const Work& like, std::string_view name) {
  const NameTable& names = graph_.names();
  return add_work(like, WorkTexts{.name = name.empty() ? names[like.name] : name,
                                  .operator_name = names[like.operator_name],
                                  .shapes = names[like.shapes],
                                  .types = names[like.types]});
}

WorkId Editor::add_work(const Work& like, const WorkTexts& texts) {
  Work work = like;
  work.name = change_.names.intern(texts.name);
  work.operator_name = change_.names.intern(texts.operator_name);
  work.shapes = change_.names.intern(texts.shapes);
  work.types = change_.names.intern(texts.types);
  const std::size_t known = graph_.context().works.size();
  // The last one is the likeliest to be asked for again.
  if (change_.new_works.empty() || change_.new_works.back() != work) {
    change_.new_works.push_back(work);
  }
  return make_id<WorkId>(known + change_.new_works.size() - 1);
}

const Work& Editor::work_of(WorkId id) const {
  const auto& known = graph_.context().works;
  return index(id) < known.size() ? known[index(id)] : change_.new_works[index(id) - known.size()];
}

WorkId Editor::add_work(std::string_view name, TaskKind kind) {
  const auto next = make_id<WorkId>(graph_.context().works.size() + change_.new_works.size());
  const auto [at, is_new] = works_.try_emplace({std::string(name), kind}, next);
  if (is_new) {
    Work work;
    work.name = change_.names.intern(name);
    work.kind = kind;
    change_.new_works.push_back(work);
  }
  return at->second;
}

LaneId Editor::add_lane(Lane lane) {
  change_.new_lanes.push_back(std::move(lane));
  return make_id<LaneId>(graph_.context().lanes.size() + change_.new_lanes.size() - 1);
}

std::uint32_t Editor::add_communicator(Communicator communicator) {
  change_.new_communicators.push_back(std::move(communicator));
  return static_cast<std::uint32_t>(graph_.context().communicators.size() +
                                    change_.new_communicators.size() - 1);
}

TaskSpec Editor::like(TaskId task) const {
  TaskSpec spec;
  spec.lane = graph_.lane_id(task);
  spec.work = graph_.work_id(task);
  spec.kind = graph_.kind(task);
  spec.duration_ns = graph_.duration_ns(task);
  spec.phase = graph_.phase(task);
  spec.layer = graph_.layer(task);
  spec.step = graph_.step(task);
  spec.provenance = graph_.provenance(task);
  return spec;
}

TaskSpec& Editor::spec_of(TaskId inserted) {
  FORETRACE_CHECK(index(inserted) >= graph_.size() && inserted < next_task());
  return change_.inserted[index(inserted) - graph_.size()].task;
}

TaskId Editor::insert(const TaskSpec& task, TaskId anchor, Place place) {
  const TaskId id = next_task();
  const bool recorded = index(anchor) < graph_.size();
  const Position side = place == Place::before ? before : after;
  inserted_at_.push_back(recorded ? position(anchor, side) : position_of(anchor));
  change_.inserted.push_back({task, anchor, place});
  return id;
}

/// The work of a call that does not stand right behind it.
TaskId Editor::work_behind(TaskId call) const {
  if (index(call) >= graph_.size() || !is_host(graph_.kind(call))) return none<TaskId>;
  const auto work = launched_by(graph_, call);
  if (work.empty() || index(work.front()) == index(call) + 1) return none<TaskId>;
  return work.front();
}

Launched Editor::insert(const NewPair& pair, TaskId anchor, Place place) {
  Launched put;
  put.call = insert(pair.call, anchor, place);
  const TaskId next = place == Place::before ? work_behind(anchor) : none<TaskId>;
  put.device = next == none<TaskId> ? insert(pair.device, put.call)
                                    : insert(pair.device, next, Place::before);
  const bool from_start = pair.latency_from == LatencyFrom::start;
  depend({from_start ? start_of(put.call) : end_of(put.call), put.device, DependencyKind::launch,
          pair.latency_ns, 0.0F, no_point});
  return put;
}

void Editor::depend(TaskId task, TaskId source, DependencyKind kind, std::int64_t lag_ns) {
  depend({end_of(source), task, kind, lag_ns, 0.0F, no_point});
}

void Editor::depend(const Dependency& dependency) {
  change_.new_dependencies.push_back(dependency);
  const TaskId source = task_of(dependency.source);
  if (index(dependency.task) < graph_.size()) added_into_.emplace(dependency.task, dependency);
  if (index(source) < graph_.size()) added_out_of_.emplace(source, dependency);
}

void Editor::share_waits(TaskId inserted, TaskId like) {
  for (const Link& link : sources(graph_, like)) {
    if (link.on_lane() || link.kind == DependencyKind::queue ||
        link.kind == DependencyKind::launch) {
      continue;
    }
    Dependency shared = link.dependency();
    shared.task = inserted;
    depend(shared);
  }
}

void Editor::share_waiting(TaskId inserted, TaskId like) {
  for (const Link& link : dependents(graph_, like)) {
    const bool is_event = link.kind == DependencyKind::event_wait ||
                          link.kind == DependencyKind::synchronization ||
                          link.kind == DependencyKind::data || link.kind == DependencyKind::control;
    // Rules are resolved anew: they find what was put in.
    if (link.on_lane() || link.symbolic || !is_event || !is_end(link.source)) continue;
    Dependency shared = link.dependency();
    shared.source = end_of(inserted);
    if (shared.late_after == link.source) shared.late_after = shared.source;
    depend(shared);
  }
}

}  // namespace foretrace
