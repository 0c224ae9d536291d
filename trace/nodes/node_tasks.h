// From nodes with explicit dependencies to a task graph: no rules, what the file says is used.
#pragma once

#include "sim/core/result.h"
#include "trace/graph/built_graph.h"
#include "trace/table/events.h"
#include "trace/table/node_graph.h"

namespace foretrace::trace {

/// One task per node on the lane of its thread or stream, dependencies as recorded. Where streams
/// are not recorded a device computes one node, communicates one and copies one at a time.
[[nodiscard]] Result<BuiltGraph> build_node_graph(const EventTable& events, const NodeGraph& nodes,
                                                  const BuildOptions& options = {});

}  // namespace foretrace::trace
