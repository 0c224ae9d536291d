// How long a node of an execution trace takes: as recorded, or from rates that the user gives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/result.h"
#include "sim/graph/task.h"
#include "trace/graph/built_graph.h"
#include "trace/table/events.h"
#include "trace/table/node_graph.h"

namespace foretrace::trace {

/// A node takes no longer, and the nodes of a graph together do not either.
inline constexpr double longest_nodes_ns = 4e18;  // below 2^62

struct NodeTimes {
  std::vector<std::int64_t> duration_ns;
  std::vector<Provenance> provenance;
  std::uint64_t below_resolution = 0;  ///< computations recorded with 0 whole microseconds
};

/// Communication, and device work whose amount is recorded, never costs a silent 0: without a
/// duration and without a rate it is an error that names the node and what to give.
[[nodiscard]] Result<NodeTimes> node_times(const EventTable& events, const NodeGraph& graph,
                                           const NodeCosts& costs);
/// Says in one warning that so many of the nodes count as 0; nothing if none does.
void warn_below_resolution(std::uint64_t below, std::uint64_t nodes,
                           std::vector<std::string>& warnings);
/// What is recorded of a node's communication; null: nothing.
[[nodiscard]] const NodeCommunication* communication_of(const NodeGraph& graph, NodeId node);
[[nodiscard]] constexpr bool is_communication(NodeKind kind) {
  return kind == NodeKind::send || kind == NodeKind::receive || kind == NodeKind::collective;
}

}  // namespace foretrace::trace
