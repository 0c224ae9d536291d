// The order in which nodes of an execution trace can run, and their dependencies as rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/result.h"
#include "trace/table/events.h"
#include "trace/table/node_graph.h"

namespace foretrace::trace {

/// Nodes so that none stands before what it waits for: the earliest recorded start first, without
/// recorded starts the lowest id. Errors: no nodes; a cycle, whose nodes it
/// names.
[[nodiscard]] Result<std::vector<NodeId>> node_order(const EventTable& events,
                                                     const NodeGraph& graph);
/// Name and id of a node for messages: "node 36 'aten::add'".
[[nodiscard]] std::string node_text(const EventTable& events, const NodeGraph& graph, NodeId node);

}  // namespace foretrace::trace
