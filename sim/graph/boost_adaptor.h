// The task graph as a Boost.Graph: vertex list, incidence and adjacency over the forward lists,
// without a copy. The only header that includes Boost.Graph.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include <boost/graph/adjacency_iterator.hpp>
#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/counting_iterator.hpp>
#include <boost/iterator/iterator_facade.hpp>
#include <boost/property_map/property_map.hpp>

#include "sim/graph/task_graph.h"

namespace foretrace {

/// A view of a topology; vertices are task numbers, edges point to the tasks that wait.
class BoostGraph {
 public:
  explicit BoostGraph(const Topology& topology) : topology_(&topology) {}
  [[nodiscard]] const Topology& topology() const { return *topology_; }

  using vertex_descriptor = std::uint32_t;
  /// A forward entry: who waits is stored there, who is waited for is kept beside it.
  struct edge_descriptor {  // NOLINT(readability-identifier-naming): Boost.Graph's name
    std::uint32_t source = 0;
    std::uint32_t entry = 0;  ///< index of Topology::forward
    friend auto operator<=>(const edge_descriptor&, const edge_descriptor&) = default;
  };
  // NOLINTNEXTLINE(readability-identifier-naming): Boost.Graph's name
  struct traversal_category : boost::vertex_list_graph_tag,
                              boost::incidence_graph_tag,
                              boost::adjacency_graph_tag {};
  using directed_category = boost::directed_tag;
  using edge_parallel_category = boost::allow_parallel_edge_tag;
  using vertices_size_type = std::size_t;
  using edges_size_type = std::size_t;
  using degree_size_type = std::size_t;
  using vertex_iterator = boost::counting_iterator<vertex_descriptor>;

  class out_edge_iterator  // NOLINT(readability-identifier-naming): Boost.Graph's name
      : public boost::iterator_facade<out_edge_iterator, edge_descriptor,
                                      std::random_access_iterator_tag, edge_descriptor> {
   public:
    out_edge_iterator() = default;
    explicit out_edge_iterator(edge_descriptor edge) : edge_(edge) {}

   private:
    friend class boost::iterator_core_access;
    [[nodiscard]] edge_descriptor dereference() const { return edge_; }
    [[nodiscard]] bool equal(const out_edge_iterator& other) const {
      return edge_.entry == other.edge_.entry;
    }
    void increment() { ++edge_.entry; }
    void decrement() { --edge_.entry; }
    void advance(std::ptrdiff_t steps) {
      edge_.entry = static_cast<std::uint32_t>(edge_.entry + steps);
    }
    [[nodiscard]] std::ptrdiff_t distance_to(const out_edge_iterator& other) const {
      return static_cast<std::ptrdiff_t>(other.edge_.entry) -
             static_cast<std::ptrdiff_t>(edge_.entry);
    }
    edge_descriptor edge_;
  };
  using adjacency_iterator =
      boost::adjacency_iterator_generator<BoostGraph, vertex_descriptor, out_edge_iterator>::type;
  using vertex_index_map = boost::identity_property_map;

  // What the concepts ask for but a graph of these kinds does not have.
  using in_edge_iterator = void;
  using edge_iterator = void;
  [[nodiscard]] static vertex_descriptor null_vertex() {
    return std::numeric_limits<vertex_descriptor>::max();
  }

 private:
  const Topology* topology_;
};

// Names and signatures are those of Boost.Graph.
[[nodiscard]] inline std::size_t num_vertices(const BoostGraph& graph) {
  return graph.topology().task_count();
}
[[nodiscard]] inline std::pair<BoostGraph::vertex_iterator, BoostGraph::vertex_iterator> vertices(
    const BoostGraph& graph) {
  return {BoostGraph::vertex_iterator(0),
          BoostGraph::vertex_iterator(static_cast<std::uint32_t>(num_vertices(graph)))};
}
[[nodiscard]] inline std::pair<BoostGraph::out_edge_iterator, BoostGraph::out_edge_iterator>
out_edges(BoostGraph::vertex_descriptor vertex, const BoostGraph& graph) {
  const auto& offsets = graph.topology().forward_offsets;
  return {BoostGraph::out_edge_iterator({vertex, offsets[vertex]}),
          BoostGraph::out_edge_iterator({vertex, offsets[vertex + 1]})};
}
[[nodiscard]] inline std::size_t out_degree(BoostGraph::vertex_descriptor vertex,
                                            const BoostGraph& graph) {
  const auto& offsets = graph.topology().forward_offsets;
  return offsets[vertex + 1] - offsets[vertex];
}
[[nodiscard]] inline BoostGraph::vertex_descriptor source(BoostGraph::edge_descriptor edge,
                                                          const BoostGraph& /*graph*/) {
  return edge.source;
}
[[nodiscard]] inline BoostGraph::vertex_descriptor target(BoostGraph::edge_descriptor edge,
                                                          const BoostGraph& graph) {
  return graph.topology().forward[edge.entry] >> 2U;
}
[[nodiscard]] inline std::pair<BoostGraph::adjacency_iterator, BoostGraph::adjacency_iterator>
adjacent_vertices(BoostGraph::vertex_descriptor vertex, const BoostGraph& graph) {
  const auto [first, last] = out_edges(vertex, graph);
  return {BoostGraph::adjacency_iterator(first, &graph),
          BoostGraph::adjacency_iterator(last, &graph)};
}
[[nodiscard]] inline BoostGraph::vertex_index_map get(boost::vertex_index_t /*tag*/,
                                                      const BoostGraph& /*graph*/) {
  return {};
}
[[nodiscard]] inline BoostGraph::vertex_descriptor get(boost::vertex_index_t /*tag*/,
                                                       const BoostGraph& /*graph*/,
                                                       BoostGraph::vertex_descriptor vertex) {
  return vertex;
}

}  // namespace foretrace

template <>
struct boost::property_map<foretrace::BoostGraph, boost::vertex_index_t> {
  using type = foretrace::BoostGraph::vertex_index_map;
  using const_type = foretrace::BoostGraph::vertex_index_map;
};
