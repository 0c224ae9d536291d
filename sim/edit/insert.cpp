// Primitives that add.
#include "sim/edit/insert.h"

#include <utility>

namespace foretrace::transform {

TaskId next_task(const Change& change, const TaskGraph& graph) {
  return make_id<TaskId>(graph.size() + change.inserted.size());
}

WorkId add_work(Change& change, const TaskGraph& graph, const Work& like, std::string_view name) {
  const NameTable& names = graph.names();
  Work work = like;
  work.name = change.names.intern(name.empty() ? names[like.name] : name);
  work.operator_name = change.names.intern(names[like.operator_name]);
  work.shapes = change.names.intern(names[like.shapes]);
  work.types = change.names.intern(names[like.types]);
  const std::size_t known = graph.context().works.size();
  // The last one is the likeliest to be asked for again.
  if (!change.new_works.empty() && change.new_works.back() == work) {
    return make_id<WorkId>(known + change.new_works.size() - 1);
  }
  change.new_works.push_back(work);
  return make_id<WorkId>(known + change.new_works.size() - 1);
}

LaneId add_lane(Change& change, const TaskGraph& graph, Lane lane) {
  change.new_lanes.push_back(std::move(lane));
  return make_id<LaneId>(graph.context().lanes.size() + change.new_lanes.size() - 1);
}

TaskSpec like(const TaskGraph& graph, TaskId task) {
  TaskSpec spec;
  spec.lane = graph.lane_id(task);
  spec.work = graph.work_id(task);
  spec.kind = graph.kind(task);
  spec.duration_ns = graph.duration_ns(task);
  spec.phase = graph.phase(task);
  spec.layer = graph.layer(task);
  spec.step = graph.step(task);
  spec.provenance = graph.provenance(task);
  return spec;
}

TaskId insert(Change& change, const TaskGraph& graph, const TaskSpec& task, TaskId anchor,
              Place place) {
  const TaskId id = next_task(change, graph);
  change.inserted.push_back({task, anchor, place});
  return id;
}

LaunchPair insert_pair(Change& change, const TaskGraph& graph, const PairSpec& spec) {
  LaunchPair pair;
  pair.launch = insert(change, graph, spec.launch, spec.after);
  pair.device = insert(change, graph, spec.device, pair.launch);
  const bool from_start = spec.latency_from == LatencyFrom::start;
  change.new_dependencies.push_back({from_start ? start_of(pair.launch) : end_of(pair.launch),
                                     pair.device, DependencyKind::launch, spec.latency_ns, 0.0F,
                                     no_point});
  return pair;
}

}  // namespace foretrace::transform
