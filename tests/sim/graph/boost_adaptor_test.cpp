#include "sim/graph/boost_adaptor.h"

#include <vector>

#include <boost/concept/assert.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/topological_sort.hpp>
#include <doctest/doctest.h>

#include "tests/sim/engine/random_graph.h"
#include "tests/sim/graph/text_graph.h"

namespace foretrace {
namespace {

BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<BoostGraph>));
BOOST_CONCEPT_ASSERT((boost::IncidenceGraphConcept<BoostGraph>));
BOOST_CONCEPT_ASSERT((boost::AdjacencyGraphConcept<BoostGraph>));
BOOST_CONCEPT_ASSERT(
    (boost::ReadablePropertyMapConcept<BoostGraph::vertex_index_map, std::uint32_t>));

TEST_CASE("boost_adaptor: edges lead from a task to those that wait for it") {
  // c waits for a (launch) and b (stream order).
  const TaskGraph graph = test::graph("h:a(1) s:b(1) s:c(1)<a");
  const BoostGraph boost_graph(graph.topology());
  CHECK(num_vertices(boost_graph) == 3);
  CHECK(out_degree(0, boost_graph) == 1);
  CHECK(out_degree(2, boost_graph) == 0);
  const auto [first, last] = out_edges(1, boost_graph);
  REQUIRE(last - first == 1);
  CHECK(source(*first, boost_graph) == 1);
  CHECK(target(*first, boost_graph) == 2);
  const auto [near, beyond] = adjacent_vertices(0, boost_graph);
  CHECK(std::vector<std::uint32_t>(near, beyond) == std::vector<std::uint32_t>{2});
}

TEST_CASE("boost_adaptor: topological_sort puts every source before its target") {
  const TaskGraph graph = test::random_graph({.tasks = 2000, .lanes = 9, .seed = 4});
  const BoostGraph boost_graph(graph.topology());
  std::vector<std::uint32_t> reversed;
  boost::topological_sort(boost_graph, std::back_inserter(reversed));
  REQUIRE(reversed.size() == graph.size());
  std::vector<std::size_t> place(graph.size());
  for (std::size_t i = 0; i < reversed.size(); ++i) {
    place[reversed[i]] = reversed.size() - i;
  }
  for (std::uint32_t task = 0; task < graph.size(); ++task) {
    const auto [first, last] = out_edges(task, boost_graph);
    for (auto edge = first; edge != last; ++edge) {
      CHECK(place[task] < place[target(*edge, boost_graph)]);
    }
  }
}

TEST_CASE("boost_adaptor: a search reaches what waits, directly or not, and nothing else") {
  const TaskGraph graph = test::graph("h:a(1) s:k(1)<a h2:other(1) h:end(1)~s");
  const BoostGraph boost_graph(graph.topology());
  std::vector<int> distance(graph.size(), -1);
  distance[0] = 0;
  boost::breadth_first_search(boost_graph, 0U,
                              boost::visitor(boost::make_bfs_visitor(boost::record_distances(
                                  distance.data(), boost::on_tree_edge()))));
  CHECK(distance == std::vector<int>{0, 1, -1, 1});
}

}  // namespace
}  // namespace foretrace
