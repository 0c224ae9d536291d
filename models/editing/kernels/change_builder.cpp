// Ids of new tasks, works and lanes follow those of the graph.
#include "models/editing/kernels/change_builder.h"

namespace foretrace::detail {

WorkId ChangeBuilder::work(std::string_view name, TaskKind kind) {
  const auto next = make_id<WorkId>(graph_.context().works.size() + change.new_works.size());
  const auto [at, is_new] = works_.try_emplace({std::string(name), kind}, next);
  if (is_new) {
    Work work;
    work.name = change.names.intern(name);
    work.kind = kind;
    change.new_works.push_back(work);
  }
  return at->second;
}

LaneId ChangeBuilder::add_lane(Lane lane) {
  change.new_lanes.push_back(std::move(lane));
  return make_id<LaneId>(graph_.context().lanes.size() + change.new_lanes.size() - 1);
}

TaskId ChangeBuilder::insert(const TaskSpec& task, TaskId anchor, Place place) {
  change.inserted.push_back({task, anchor, place});
  return make_id<TaskId>(graph_.size() + change.inserted.size() - 1);
}

ChangeBuilder::Inserted ChangeBuilder::insert_launch(TaskId anchor, Place place,
                                                     const NewCall& call, const NewKernel& kernel) {
  TaskSpec spec;
  spec.lane = graph_.lane_id(anchor);
  spec.work = work(call.name, TaskKind::launch);
  spec.kind = TaskKind::launch;
  spec.duration_ns = call.duration_ns;
  spec.segment_ns = call.segment_ns;
  spec.phase = graph_.phase(anchor);
  spec.layer = graph_.layer(anchor);
  spec.step = graph_.step(anchor);
  spec.provenance = Provenance::assumed;
  Inserted inserted;
  inserted.call = insert(spec, anchor, place);

  spec.lane = kernel.stream;
  spec.work = work(kernel.name, TaskKind::kernel);
  spec.kind = TaskKind::kernel;
  spec.duration_ns = kernel.duration_ns;
  spec.segment_ns = kernel.gap_ns;
  spec.provenance = kernel.provenance;
  inserted.kernel = insert(spec, inserted.call, Place::after);
  change.new_dependencies.push_back({.source = end_of(inserted.call),
                                     .task = inserted.kernel,
                                     .kind = DependencyKind::launch,
                                     .lag_ns = call.latency_ns});
  if (kernel.low != 1.0F || kernel.high != 1.0F) {
    change.durations.push_back(
        {inserted.kernel, kernel.duration_ns, kernel.provenance, kernel.low, kernel.high});
  }
  return inserted;
}

}  // namespace foretrace::detail
