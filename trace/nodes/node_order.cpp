#include "trace/nodes/node_order.h"

#include <queue>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace foretrace::trace {
namespace {

// Longer cycles are shortened in the message.
constexpr std::size_t longest_cycle = 4;

// Who waits for whom, from every list of a NodeGraph, source first.
class Edges {
 public:
  explicit Edges(const NodeGraph& graph) : offsets_(graph.size() + 1), missing_(graph.size()) {
    visit(graph, [&](NodeId source, NodeId node) {
      ++offsets_[index(source) + 1];
      ++missing_[index(node)];
    });
    for (std::size_t i = 1; i < offsets_.size(); ++i) {
      offsets_[i] += offsets_[i - 1];
    }
    targets_.resize(offsets_.back());
    std::vector<std::uint32_t> next(offsets_.begin(), offsets_.end() - 1);
    visit(graph, [&](NodeId source, NodeId node) { targets_[next[index(source)]++] = node; });
  }

  [[nodiscard]] std::vector<std::uint32_t>& missing() { return missing_; }
  template <typename Visit>
  void successors(NodeId node, const Visit& visit) const {
    for (std::uint32_t i = offsets_[index(node)]; i < offsets_[index(node) + 1]; ++i) {
      visit(targets_[i]);
    }
  }

 private:
  template <typename Visit>
  static void visit(const NodeGraph& graph, const Visit& edge) {
    for (std::size_t i = 0; i < graph.size(); ++i) {
      for (std::uint32_t at = graph.data_offsets[i]; at < graph.data_offsets[i + 1]; ++at) {
        edge(graph.data[at], make_id<NodeId>(i));
      }
      for (std::uint32_t at = graph.control_offsets[i]; at < graph.control_offsets[i + 1]; ++at) {
        edge(graph.control[at], make_id<NodeId>(i));
      }
    }
    for (const NodeTiming& timing : graph.timings) {
      edge(timing.source, timing.node);
    }
  }

  std::vector<std::uint32_t> offsets_;
  std::vector<NodeId> targets_;
  std::vector<std::uint32_t> missing_;
};

// Every node that is left waits for another one that is left: going back from any of them must
// come to a node for the second time.
std::string cycle_text(const EventTable& events, const NodeGraph& graph, const Edges& edges,
                       const std::vector<std::uint32_t>& missing) {
  std::vector<NodeId> waits_for(graph.size(), none<NodeId>);
  NodeId at = none<NodeId>;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (missing[i] == 0) continue;
    at = make_id<NodeId>(i);
    edges.successors(at, [&](NodeId next) {
      waits_for[index(next)] = missing[index(next)] > 0 ? at : waits_for[index(next)];
    });
  }
  std::vector<bool> seen(graph.size());
  while (at != none<NodeId> && !seen[index(at)]) {
    seen[index(at)] = true;
    at = waits_for[index(at)];
  }
  std::vector<std::string> names;
  for (NodeId node = at; node != none<NodeId>; node = waits_for[index(node)]) {
    names.push_back(node_text(events, graph, node));
    if (waits_for[index(node)] == at || names.size() == longest_cycle) break;
  }
  return fmt::format("{}", fmt::join(names, " waits for "));
}

}  // namespace

std::string node_text(const EventTable& events, const NodeGraph& graph, NodeId node) {
  std::string_view name = events.names[graph.name[index(node)]];
  constexpr std::size_t longest = 60;
  return fmt::format("node {} '{}{}'", graph.id[index(node)], name.substr(0, longest),
                     name.size() > longest ? "..." : "");
}

Result<std::vector<NodeId>> node_order(const EventTable& events, const NodeGraph& graph) {
  if (graph.size() == 0) {
    return Error{ErrorCode::unsupported,
                 fmt::format("{}: no nodes; nothing to simulate", events.info.path)};
  }
  Edges edges(graph);
  std::vector<std::uint32_t>& missing = edges.missing();
  using Entry = std::tuple<std::int64_t, std::uint32_t>;  // start, row
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  const auto push = [&](std::size_t row) {
    ready.emplace(graph.has_starts ? graph.start_ns[row] : 0, static_cast<std::uint32_t>(row));
  };
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (missing[i] == 0) {
      push(i);
    }
  }
  std::vector<NodeId> order;
  order.reserve(graph.size());
  while (!ready.empty()) {
    const NodeId node{std::get<1>(ready.top())};
    ready.pop();
    order.push_back(node);
    edges.successors(node, [&](NodeId next) {
      if (--missing[index(next)] == 0) {
        push(index(next));
      }
    });
  }
  if (order.size() < graph.size()) {
    return Error{ErrorCode::cyclic_graph,
                 fmt::format("{}: {} of {} nodes wait for each other: {}, and so on",
                             events.info.path, graph.size() - order.size(), graph.size(),
                             cycle_text(events, graph, edges, missing))};
  }
  return order;
}

}  // namespace foretrace::trace
