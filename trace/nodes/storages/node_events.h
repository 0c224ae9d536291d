// The host nodes of an execution trace as a table of events, so that phases, layers and owners of
// tensors are found by the same code as in timed traces.
#pragma once

#include "trace/nodes/storages/node_spans.h"
#include "trace/table/events.h"
#include "trace/table/node_graph.h"

namespace foretrace::trace {

/// Begins and ends of nodes in such a table are twice their tick: between two there is room for one
/// instant.
[[nodiscard]] constexpr std::int64_t time_of_tick(std::uint32_t tick) {
  return std::int64_t{2} * tick;
}

/// Event i is node i. Times are ticks, not durations; nodes that do not run on the host are there
/// as events without work. Shapes, types and sequence numbers are those of the nodes.
[[nodiscard]] EventTable node_events(const EventTable& recorded, const NodeGraph& nodes,
                                     const NodeSpans& spans);

}  // namespace foretrace::trace
