// When the nodes of an execution trace begin and end relative to each other: their host order.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/table/node_graph.h"

namespace foretrace::trace {

/// Columns with one entry per node. Ticks count the begins and ends of all nodes, threads merged:
/// ids are given at the begin of a call, so a node ends after the begin of the last one below it.
struct NodeSpans {
  std::vector<std::uint32_t> begin;  ///< tick
  std::vector<std::uint32_t> end;    ///< tick
  std::vector<NodeId> last;          ///< the last node below it, or itself
};

/// Parents that are not before their children count as none.
[[nodiscard]] NodeSpans node_spans(const NodeGraph& nodes);

/// The node around a node; none<NodeId> for roots.
[[nodiscard]] inline NodeId node_around(const NodeGraph& nodes, NodeId node) {
  const NodeId parent = nodes.parent[index(node)];
  return parent != none<NodeId> && parent < node ? parent : none<NodeId>;
}

}  // namespace foretrace::trace
