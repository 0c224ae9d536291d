#include "trace/nodes/storages/node_spans.h"

#include <algorithm>

namespace foretrace::trace {

NodeSpans node_spans(const NodeGraph& nodes) {
  NodeSpans spans;
  const std::size_t count = nodes.size();
  spans.begin.resize(count);
  spans.end.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    spans.last.push_back(make_id<NodeId>(i));
  }
  for (std::size_t i = count; i > 0; --i) {
    const NodeId around = node_around(nodes, make_id<NodeId>(i - 1));
    if (around != none<NodeId>) {
      NodeId& last = spans.last[index(around)];
      last = std::max(last, spans.last[i - 1]);
    }
  }
  std::uint32_t tick = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = make_id<NodeId>(i);
    spans.begin[i] = tick++;
    for (NodeId node = row; node != none<NodeId> && spans.last[index(node)] == row;
         node = node_around(nodes, node)) {
      spans.end[index(node)] = tick++;
    }
  }
  return spans;
}

}  // namespace foretrace::trace
