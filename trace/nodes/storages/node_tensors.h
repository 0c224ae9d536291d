// Device tensors of an execution trace: one per storage, from the nodes that use it.
#pragma once

#include <string>
#include <vector>

#include "sim/graph/graph_builder.h"
#include "trace/annotate/tensors/parameters.h"
#include "trace/annotate/tensors/tensor_lifetimes.h"
#include "trace/table/events.h"
#include "trace/table/node_graph.h"

namespace foretrace::trace {

/// Where tensors go: the graph being built, and the tasks of its nodes.
struct NodeTensorTarget {
  const EventTable& events;
  const NodeGraph& nodes;
  GraphBuilder& builder;
  const std::vector<TaskId>& tasks;  ///< per node; one more, if there is one after the last node
  std::int32_t graph_device = -1;    ///< of files that name one device; -1: as recorded
};

struct AddedNodeTensors {
  std::vector<DeviceMemory> devices{};
  ParameterEstimate parameters{};
  std::string note{};  ///< what the tensors rest on and what they miss; empty without tensors
};

/// A storage is freed after its last recorded use, which is the earliest it can have been; what was
/// there before the window stays. Exceptions have evidence: a gradient stays until zero_grad, a
/// state of the optimizer stays, memory that is used for something else was freed.
[[nodiscard]] AddedNodeTensors add_node_tensors(const NodeTensorTarget& target);

/// Why a trace of nodes has no device tensors; empty if it has.
[[nodiscard]] std::string why_no_tensors(const EventTable& events, const NodeGraph& nodes);

}  // namespace foretrace::trace
