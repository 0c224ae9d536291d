#include "models/editing/tensors/max_flow.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>

namespace foretrace::editing {
namespace {

using FlowNetwork = boost::compressed_sparse_row_graph<boost::directedS>;
using FlowEdge = boost::graph_traits<FlowNetwork>::edge_descriptor;

/// By node: whether an edge with something left leads there from the first one. The colors of the
/// algorithm do not say so where several edges lead to the sink.
std::vector<bool> reached_from(std::size_t first, const FlowNetwork& network,
                               const std::vector<std::int64_t>& left) {
  std::vector<bool> reached(num_vertices(network), false);
  std::vector<std::size_t> open = {first};
  reached[first] = true;
  // NOLINTNEXTLINE(modernize-loop-convert): the list becomes longer
  for (std::size_t i = 0; i < open.size(); ++i) {
    for (auto [edge, end] = out_edges(open[i], network); edge != end; ++edge) {
      const std::size_t node = target(*edge, network);
      if (left[get(boost::edge_index, network, *edge)] <= 0 || reached[node]) continue;
      reached[node] = true;
      open.push_back(node);
    }
  }
  return reached;
}

}  // namespace

std::int64_t MaxFlow::run(std::size_t source, std::size_t sink) {
  // In front of the source, so that no sum of flows is too large for a number.
  add_edge(nodes_, source, unlimited);
  const std::size_t nodes = nodes_ + 1;
  std::vector<std::size_t> next(nodes + 1);  // entry of each node's edges that is filled next
  for (const Edge& edge : edges_) {
    ++next[edge.from + 1];
    ++next[edge.to + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  const std::size_t entries = 2 * edges_.size();
  std::vector<std::pair<std::size_t, std::size_t>> ends(entries);
  std::vector<std::int64_t> capacity(entries, 0);
  std::vector<std::size_t> back(entries);
  for (const Edge& edge : edges_) {
    const std::size_t forth = next[edge.from]++;
    const std::size_t reverse = next[edge.to]++;
    ends[forth] = {edge.from, edge.to};
    ends[reverse] = {edge.to, edge.from};
    capacity[forth] = edge.capacity;
    back[forth] = reverse;
    back[reverse] = forth;
  }
  const FlowNetwork network(boost::edges_are_sorted, ends.begin(), ends.end(), nodes);
  std::vector<FlowEdge> reverse(entries);
  for (std::size_t entry = 0; entry < entries; ++entry) {
    reverse[back[entry]] = FlowEdge(ends[entry].first, entry);
  }
  std::vector<std::int64_t> left(entries);
  std::vector<FlowEdge> way(nodes);
  std::vector<boost::default_color_type> color(nodes);
  std::vector<std::size_t> distance(nodes);
  const auto by_edge = get(boost::edge_index, network);
  const auto by_node = get(boost::vertex_index, network);
  const auto map = [](auto& values, auto by) {
    return boost::make_iterator_property_map(values.begin(), by);
  };
  const std::int64_t flow = boost::boykov_kolmogorov_max_flow(
      network, map(capacity, by_edge), map(left, by_edge), map(reverse, by_edge), map(way, by_node),
      map(color, by_node), map(distance, by_node), by_node, nodes_, sink);
  source_side_ = reached_from(nodes_, network, left);
  source_side_.resize(nodes_);
  return flow;
}

}  // namespace foretrace::editing
