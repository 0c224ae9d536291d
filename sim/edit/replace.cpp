// Other tasks in the place of a group.
#include "sim/edit/editor.h"
#include "sim/edit/group_place.h"

namespace foretrace {

std::vector<std::vector<TaskId>> Editor::cut(std::span<const TaskId> group) const {
  std::vector<std::vector<TaskId>> pieces;
  std::optional<GroupPlace> place;
  for (const TaskId task : group) {
    if (place && place->add(task)) {
      pieces.back().push_back(task);
      continue;
    }
    place.emplace(*this, GroupPlace::Of::device);
    if (place->add(task)) {
      pieces.push_back({task});
    } else {
      place.reset();
    }
  }
  return pieces;
}

bool Editor::can_be_one(std::span<const TaskId> group) const {
  return find_place(*this, group, GroupPlace::Of::device).ok();
}

/// Host time before the first call stays where it is, before whatever comes next.
void Editor::remove_calls(std::span<const TaskId> calls) {
  for (const TaskId call : calls) {
    mark_gone(call, call == calls.front() ? SegmentOf::keep : SegmentOf::take);
  }
}

TaskSpec Editor::spec_of_call(TaskId like, const NewCall& call) const {
  TaskSpec spec = this->like(like);
  spec.work = call.work;
  spec.kind = TaskKind::launch;
  spec.duration_ns = call.duration_ns;
  spec.segment_ns = call.segment_ns;
  spec.provenance = call.provenance;
  return spec;
}

Result<std::vector<Launched>> Editor::replace(std::span<const TaskId> group,
                                              std::span<const NewWork> with, Stands stands) {
  FORETRACE_TRY(auto found, find_place(*this, group, GroupPlace::Of::device));
  if (with.empty()) {
    return Error{ErrorCode::bad_usage, "edit: nothing to replace a group with (use remove)"};
  }
  const GroupPlace& place = found;
  const std::size_t slot = place.slot(stands);
  const bool has_calls = !place.calls().empty();
  std::vector<Launched> put;
  for (const NewWork& work : with) {
    TaskSpec spec = like(group.front());
    spec.work = work.work;
    spec.kind = work_of(work.work).kind;  // a kernel may stand for a group that begins with a copy
    spec.duration_ns = work.duration_ns;
    spec.segment_ns = work.gap_ns;
    spec.provenance = work.trust.provenance;
    Launched next;
    if (has_calls) {
      const TaskId anchor = put.empty() ? place.calls()[slot] : put.back().device;
      next.call = insert(spec_of_call(place.calls().front(), work.call), anchor);
    }
    next.device = put.empty() ? insert(spec, place.members()[slot], Place::before)
                              : insert(spec, has_calls ? next.call : put.back().device);
    launch(next, work.call, place.members());
    if (work.trust.low != 1.0F || work.trust.high != 1.0F) {
      set_duration(next.device, work.duration_ns, work.trust);
    }
    put.push_back(next);
  }
  for (const TaskId member : place.members()) mark_gone(member, SegmentOf::take);
  stand_in({place.members(), put.front().device, put.back().device, place.between()});
  if (has_calls) {
    remove_calls(place.calls());
    stand_in({place.calls(), put.front().call, put.back().call});
  }
  return put;
}

/// New work comes from its own call or, where that is shared, from the calls of what it replaces.
void Editor::launch(const Launched& put, const NewCall& call, std::span<const TaskId> members) {
  if (put.call != none<TaskId>) {
    const bool from_start = call.latency_from == LatencyFrom::start;
    return depend({from_start ? start_of(put.call) : end_of(put.call), put.device,
                   DependencyKind::launch, call.latency_ns, 0.0F, no_point});
  }
  TaskId last = none<TaskId>;
  for (const TaskId member : members) {
    Dependency cause = launch_link(graph_, member).dependency();
    if (cause.source == no_point || task_of(cause.source) == last) continue;
    last = task_of(cause.source);
    cause.task = put.device;
    depend(cause);
  }
}

Result<TaskId> Editor::replace_calls(std::span<const TaskId> calls, const NewCall& with) {
  FORETRACE_TRY(auto found, find_place(*this, calls, GroupPlace::Of::host));
  const TaskId anchor = found.calls()[found.slot(Stands::first)];
  const TaskId call = insert(spec_of_call(calls.front(), with), anchor);
  remove_calls(calls);
  stand_in({found.calls(), call, call});
  return call;
}

}  // namespace foretrace
