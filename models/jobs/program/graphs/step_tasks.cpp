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

void StepTasks::after(TaskId task, TaskId source, DependencyKind kind) {
  if (source != none<TaskId>) builder.add_dependency({end_of(source), task, kind});
}

}  // namespace foretrace
