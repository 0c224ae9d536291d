#include "models/editing/tensors/max_flow.h"

#include <random>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <doctest/doctest.h>

using foretrace::editing::MaxFlow;

namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Network = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS, boost::no_property,
    boost::property<
        boost::edge_capacity_t, std::int64_t,
        boost::property<boost::edge_residual_capacity_t, std::int64_t,
                        boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

void add_edge(Network& network, std::size_t from, std::size_t to, std::int64_t capacity) {
  const auto forth = boost::add_edge(from, to, network).first;
  const auto back = boost::add_edge(to, from, network).first;
  boost::put(boost::edge_capacity, network, forth, capacity);
  boost::put(boost::edge_capacity, network, back, 0);
  boost::put(boost::edge_reverse, network, forth, back);
  boost::put(boost::edge_reverse, network, back, forth);
}

/// Nodes to which something could still flow.
std::vector<bool> reached(const Network& network, std::size_t source) {
  std::vector<bool> found(boost::num_vertices(network), false);
  std::vector<std::size_t> open = {source};
  for (found[source] = true; !open.empty();) {
    const std::size_t at = open.back();
    open.pop_back();
    for (auto [edge, end] = boost::out_edges(at, network); edge != end; ++edge) {
      const std::size_t to = boost::target(*edge, network);
      if (found[to] || boost::get(boost::edge_residual_capacity, network, *edge) == 0) continue;
      found[to] = true;
      open.push_back(to);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("max flow: as Boost.Graph finds it on random networks, and the cut is as large") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const std::size_t nodes = 2 + random() % 12;
    MaxFlow ours(nodes);
    Network theirs(nodes);
    struct Edge {
      std::size_t from, to;
      std::int64_t capacity;
    };
    std::vector<Edge> edges;
    for (std::size_t e = 0; e < 3 * nodes; ++e) {
      const Edge edge{random() % nodes, random() % nodes, static_cast<std::int64_t>(random() % 20)};
      if (edge.from == edge.to) continue;
      edges.push_back(edge);
      ours.add_edge(edge.from, edge.to, edge.capacity);
      add_edge(theirs, edge.from, edge.to, edge.capacity);
    }
    const std::int64_t flow = ours.run(0, nodes - 1);
    CHECK(flow == boost::push_relabel_max_flow(theirs, 0, nodes - 1));
    const std::vector<bool> side = ours.source_side();
    CHECK(side == reached(theirs, 0));
    REQUIRE(side.front());
    REQUIRE_FALSE(side.back());
    std::int64_t cut = 0;
    for (const Edge& edge : edges) {
      if (side[edge.from] && !side[edge.to]) cut += edge.capacity;
    }
    CHECK(cut == flow);
  }
}

TEST_CASE("max flow: a chain of a hundred thousand nodes, and no way at all") {
  constexpr std::size_t length = 100'000;
  MaxFlow chain(length);
  for (std::size_t i = 0; i + 1 < length; ++i) {
    chain.add_edge(i, i + 1, static_cast<std::int64_t>(i == 5 ? 3 : 10));
  }
  CHECK(chain.run(0, length - 1) == 3);
  CHECK(chain.source_side()[5]);
  CHECK_FALSE(chain.source_side()[6]);
  MaxFlow none(3);
  none.add_edge(0, 1, MaxFlow::unlimited);
  CHECK(none.run(0, 2) == 0);
}

TEST_CASE("max flow: many ways without a limit are no more than one") {
  MaxFlow wide(12);
  for (std::size_t i = 1; i <= 10; ++i) {
    wide.add_edge(0, i, MaxFlow::unlimited);
    wide.add_edge(i, 11, MaxFlow::unlimited);
  }
  CHECK(wide.run(0, 11) == MaxFlow::unlimited);
}
