// Execution traces without durations as graphs of tensors.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/graph/graph_builder.h"
#include "trace/nodes/storages/memory_graph.h"
#include "trace/nodes/storages/node_tensors.h"

namespace foretrace::trace {

Result<BuiltGraph> build_memory_graph(const EventTable& events, const NodeGraph& nodes) {
  if (const std::string why = why_no_tensors(events, nodes); !why.empty()) {
    return Error{ErrorCode::unsupported,
                 fmt::format("{}: no device memory: {}", events.info.path, why)};
  }
  GraphBuilder builder;
  const std::int32_t rank = std::max(0, events.info.rank);
  builder.add_rank_class({.first_rank = rank, .multiplicity = 1});
  const LaneId lane =
      builder.add_lane({.kind = LaneKind::host_thread, .rank = rank, .name = "nodes"});
  std::vector<TaskId> tasks;
  constexpr std::int64_t apart_ns = 1;  // what is freed before a node is gone when it begins
  for (const NameId name : nodes.name) {
    const WorkId work =
        builder.add_work({.name = builder.add_name(events.names[name]), .kind = TaskKind::mark});
    tasks.push_back(builder.add_task(
        {.lane = lane, .work = work, .kind = TaskKind::mark, .segment_ns = apart_ns}));
  }
  const WorkId end = builder.add_work({.name = builder.add_name("end"), .kind = TaskKind::mark});
  tasks.push_back(builder.add_task(
      {.lane = lane, .work = end, .kind = TaskKind::mark, .segment_ns = apart_ns}));
  AddedNodeTensors tensors = add_node_tensors({events, nodes, builder, tasks});
  FORETRACE_TRY(TaskGraph graph, std::move(builder).build());
  BuiltGraph built{.graph = std::move(graph),
                   .honesty = {},
                   .steps = {},
                   .memory = std::move(tensors.devices),
                   .parameters = std::move(tensors.parameters),
                   .memory_note = std::move(tensors.note)};
  built.warnings.push_back(fmt::format(
      "an execution trace without durations: its {} nodes order the tensors; each counts as 1 ns",
      nodes.size()));
  return built;
}

bool is_memory_only(const LoadedTrace& trace) {
  if (trace.memory() != nullptr) return true;
  return trace.nodes() != nullptr && !trace.nodes()->has_durations &&
         why_no_tensors(trace.events, *trace.nodes()).empty();
}

Result<BuiltGraph> build_memory_graph(const LoadedTrace& trace) {
  return trace.memory() != nullptr ? build_memory_graph(*trace.memory())
                                   : build_memory_graph(trace.events, *trace.nodes());
}

}  // namespace foretrace::trace
