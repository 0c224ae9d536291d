#include "models/jobs/program/graphs/step_tasks.h"

namespace foretrace {

LaneId StepTasks::lane(LaneKind kind, std::int64_t number, std::int32_t rank,
                       std::string_view name) {
  Lane lane;
  lane.kind = kind;
  lane.rank = rank;
  lane.device = 0;
  lane.number = number;
  lane.name = name;
  return builder.add_lane(lane);
}

WorkId StepTasks::work(std::string_view name, TaskKind kind, CollectiveKind collective) {
  Work work;
  work.name = builder.add_name(name);
  work.kind = kind;
  work.collective = collective;
  return builder.add_work(work);
}

TaskId StepTasks::add(LaneId lane, WorkId work, Phase phase, std::int64_t ns) {
  TaskSpec spec;
  spec.lane = lane;
  spec.work = work;
  spec.kind = builder.context().works[index(work)].kind;
  spec.phase = phase;
  spec.duration_ns = ns;
  spec.provenance = Provenance::roofline;
  return builder.add_task(spec);
}

HostLanes StepTasks::hosts(std::int32_t rank) {
  return {lane(LaneKind::host_thread, 0, rank, "training loop"),
          lane(LaneKind::channel, 6, rank, "behind launches")};
}

TaskId StepTasks::all_launched(const HostLanes& lanes, LaneId compute, Phase phase,
                               const LaunchTime& ns) {
  const TaskId launched =
      add(lanes.host, work("launches", TaskKind::host, CollectiveKind::none), phase, ns.host);
  const TaskId behind =
      add(lanes.behind, work("behind launches", TaskKind::kernel, CollectiveKind::none), phase,
          ns.rest);
  after(behind, launched, DependencyKind::launch);
  const TaskId all =
      add(compute, work("wait for launches", TaskKind::kernel, CollectiveKind::none), phase, 0);
  after(all, behind, DependencyKind::data);
  return all;
}

void StepTasks::after(TaskId task, TaskId source, DependencyKind kind) {
  if (source != none<TaskId>) builder.add_dependency({end_of(source), task, kind});
}

}  // namespace foretrace
