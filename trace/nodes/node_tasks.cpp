#include "trace/nodes/node_tasks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/graph/graph_builder.h"
#include "trace/nodes/node_cost.h"
#include "trace/nodes/node_emitter.h"
#include "trace/nodes/node_order.h"
#include "trace/nodes/storages/node_tensors.h"

namespace foretrace::trace {
namespace {

// References that no dependency enters; 0 where the file has no starts.
Honesty honesty_of(const NodeGraph& nodes, const NodeEmitter& emitter) {
  Honesty honesty;
  if (!nodes.has_starts) {
    honesty.flags.emplace_back("no recorded starts");
    return honesty;
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> busy;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::int64_t start = nodes.start_ns[i] - emitter.origin_ns();
    if (nodes.start_ns[i] < 0) continue;
    const std::int64_t end = start + emitter.times().duration_ns[i];
    honesty.span_ns = std::max(honesty.span_ns, end);
    if (on_device(nodes, make_id<NodeId>(i))) {
      busy.emplace_back(start, end);
    }
  }
  std::sort(busy.begin(), busy.end());
  std::int64_t until = 0;
  for (const auto& [start, end] : busy) {
    honesty.device_busy_ns += std::max<std::int64_t>(0, end - std::max(start, until));
    until = std::max(until, end);
  }
  return honesty;
}

}  // namespace

Result<BuiltGraph> build_node_graph(const EventTable& events, const NodeGraph& nodes,
                                    const BuildOptions& options) {
  FORETRACE_TRY(std::vector<NodeId> order, node_order(events, nodes));
  FORETRACE_TRY(NodeTimes times, node_times(events, nodes, options.node_costs));
  GraphBuilder builder;
  NodeEmitter emitter(events, nodes, std::move(times), builder, std::max(0, events.info.rank));
  std::vector<NodeMeeting> no_meetings;
  emitter.emit(order, no_meetings);
  // Without numbers of their own all lanes are on device 0.
  AddedNodeTensors tensors = add_node_tensors({events, nodes, builder, emitter.tasks(), 0});
  std::vector<TaskId> new_id;
  FORETRACE_TRY(TaskGraph graph, std::move(builder).build(new_id));
  BuiltGraph built{.graph = std::move(graph),
                   .honesty = honesty_of(nodes, emitter),
                   .steps = emitter.measured(),
                   .memory = std::move(tensors.devices),
                   .parameters = std::move(tensors.parameters),
                   .memory_note = std::move(tensors.note)};
  built.origin_ns = emitter.origin_ns();
  built.recorded_start_ns.assign(nodes.size(), -1);
  for (std::size_t i = 0; i < nodes.size() && nodes.has_starts; ++i) {
    const TaskId task = new_id[index(emitter.tasks()[i])];
    built.recorded_start_ns[index(task)] =
        nodes.start_ns[i] < 0 ? -1 : nodes.start_ns[i] - emitter.origin_ns();
  }
  warn_below_resolution(emitter.times().below_resolution, nodes.size(), built.warnings);
  return built;
}

}  // namespace foretrace::trace
